package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "cookies")
	s.policy(t, "cream")
	s.create(t, "/v1/archive_policy_rule", `{"name":"r","metric_pattern":"disk.io.*","archive_policy_name":"cookies"}`,
		"user", "admin")
	s.create(t, "/v1/archive_policy_rule", `{"name":"q","metric_pattern":"disk.*","archive_policy_name":"cream"}`,
		"user", "admin")
	s.want(t, "GET /v1/metric", "", 200, "[]")
	s.want(t, "GET /v1/metric?sort=nonexistent_key:asc", "", 400, "~Sort key supplied is invalid: nonexistent_key")
	s.want(t, "GET /v1/metric/foobar", "", 404, "~Metric foobar does not exist")

	w := s.want(t, "POST /v1/metric", `{"name":"disk.io.rate","unit":"B/s"}`, 201,
		`~"creator": "foobar", "created_by_user_id": "foobar", "created_by_project_id": "", "name": "disk.io.rate", "unit": "B/s", "archive_policy_name": "cookies", "resource_id": null}`)
	location := strings.TrimPrefix(w.Header().Get("Location"), "http://example.com")
	policy :=
		`"archive_policy": {"name": "cookies", "back_window": 0, "definition": [{"timespan": null, "granularity": "0:00:01", "points": null}], ` +
			`"aggregation_methods": ["mean", "sum", "max", "min", "std", "count"]}`
	s.want(t, "GET "+location, "", 200, `~"unit": "B/s", `+policy+`, "resource": null}`)
	s.want(t, "GET /v1/metric/"+strings.ToUpper(location[len("/v1/metric/"):]), "", 200, "~cookies")
	s.want(t, "GET /v1/metric", "", 200, `~`+policy+`, "resource_id": null}]`)
	s.want(t, "GET "+location, "", 403, "~403", "user", "foobaz")
	s.want(t, "GET "+location, "", 200, "~cookies", "user", "admin")

	refuse := func(body string, status int, part string) {
		t.Helper()
		s.want(t, "POST /v1/metric", body, status, "~"+part, "Accept", wantsJSON)
	}
	refuse(`{"name":"disk/io/rate"}`, 400, "'/' is not supported in metric name")
	refuse(`{"name":"disk.io.rate","unit":"over_length_unit_over_length_unit"}`, 400,
		`"reason": "length of value must be at most 31 for dictionary value @ data['unit']", "detail": ["unit"]`)
	refuse(`{"name":"volume.io.rate"}`, 400,
		"No archive policy name specified and no archive policy rule found matching the metric name volume.io.rate")
	refuse(`{}`, 400, "matching the metric name None")
	refuse(`{"archive_policy_name":"bad-cookie"}`, 400, "Archive policy bad-cookie does not exist")
	refuse(`{"archive_policy_name":"cookies","resource_id":"foo"}`, 400,
		`{"cause": "Attribute value error", "reason": "Name cannot be null if resource_id is not null", "detail": "name"}`)
	refuse(`{"archive_policy_name":"cookies","resource_id":"foo","name":"x"}`, 404, "does not exist")
	refuse(`[1]`, 400, "expected a dictionary")
	s.want(t, "POST /v1/metric", `{}`, 415, "~415", "Content-Type", "plain/text")

	s.want(t, "DELETE "+location, "", 403, "~403", "user", "foobaz")
	s.want(t, "DELETE "+location, "", 204, "", "Accept", wantsJSON)
	s.want(t, "DELETE "+location, "", 404, "~404")
	s.want(t, "GET /v1/metric", "", 200, "[]")
	s.want(t, "GET /v1/metric?status=delete", "", 200, "~disk.io.rate")
}

func TestListMetrics(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "first")
	s.policy(t, "second")
	one := s.create(t, "/v1/metric", `{"name":"disk.io.rate","unit":"B/s","archive_policy_name":"first"}`)
	s.create(t, "/v1/metric", `{"name":"disk.io.rate","unit":"B/s","archive_policy_name":"first"}`, "user", "foobaz")
	s.create(t, "/v1/metric", `{"name":"cpu_util","unit":"%","archive_policy_name":"first"}`, "user", "jd")
	s.create(t, "/v1/metric", `{"name":"cpu","unit":"ns","archive_policy_name":"second"}`)
	count := func(query string, want int) {
		t.Helper()
		w := s.want(t, "GET /v1/metric"+query, "", 200, "~")
		if n := strings.Count(w.Body.String(), `"creator"`); n != want {
			t.Errorf("%s: %d metrics, want %d", query, n, want)
		}
		if link := w.Header().Get("Link"); link != "" {
			t.Errorf("%s: Link %s", query, link)
		}
	}
	count("", 4)
	count("?id="+one, 1)
	count("?name=disk.io.rate", 2)
	count("?unit=ns", 1)
	count("?archive_policy_name=first&sort=name:desc", 3)
	count("?creator=jd", 1)
	count("?user_id=jd", 0) // creator is "jd", not "jd:"
	count("?name=disk.io.rate&creator=foobaz&what=ever", 1)

	w := s.want(t, "GET /gnocchi/v1/metric?archive_policy_name=first&sort=name:desc&limit=2", "", 200, "~",
		"Forwarded", "host=outer")
	ids := strings.Split(w.Body.String(), `{"id": "`)
	last := ids[len(ids)-1][:36]
	link := `<http://outer/gnocchi/v1/metric?archive_policy_name=first&limit=2&marker=` + last +
		`&sort=name%3Adesc>; rel="next"`
	if got := w.Header().Get("Link"); got != link {
		t.Errorf("Link %s, want %s", got, link)
	}
	count("?archive_policy_name=first&limit=2&marker="+last+"&sort=name:desc", 1)

	for query, part := range map[string]string{
		"limit=0": "value must be at least 1", "limit=x": "expected int", "marker=x": "Invalid marker",
		"sort=name:up": "Unknown sort direction",
		"status=x":     "Invalid input", "id=x": "Invalid input", "marker=" + strings.Repeat("1", 32): "Invalid marker",
	} {
		s.want(t, "GET /v1/metric?"+query, "", 400, "~"+part)
	}
	for range 4 {
		s.create(t, "/v1/metric", `{"archive_policy_name":"second"}`)
	}
	w = s.want(t, "GET /v1/metric?limit=100", "", 200, "~")
	if n := strings.Count(w.Body.String(), `"creator"`); n != 7 ||
		!strings.Contains(w.Header().Get("Link"), "limit=7&") {
		t.Errorf("%d metrics, Link %s", n, w.Header().Get("Link"))
	}
}

func TestResources(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "simple")
	s.want(t, "GET /v1/resource/", "", 200, `{"generic": "http://example.com/v1/resource/generic"}`)
	s.want(t, "GET /v1/resource/generic", "", 200, "[]")
	s.want(t, "GET /v1/resource/instance", "", 404, "~Resource type instance does not exist")
	id := "5b7ebe90-4ad2-4c83-ad2c-f6344884ab70"
	w := s.want(t, "POST /v1/resource/generic", `{"id":"`+id+
		`","started_at":"2014-01-03T02:02:02.000000","user_id":"u","project_id":null,`+
		`"metrics":{"a.b":{"archive_policy_name":"simple","unit":"x"}}}`, 201,
		`~{"id": "`+id+`", "original_resource_id": "`+id+
			`", "type": "generic", "creator": "foobar", "created_by_user_id": "foobar", "created_by_project_id": "", `+
			`"user_id": "u", "project_id": null, "started_at": "2014-01-03T02:02:02+00:00", "ended_at": null, "revision_start": "2026-01-02T03:04:05+00:00", "revision_end": null, "metrics": {"a.b": "`)
	if location := w.Header().Get("Location"); location != "http://example.com/v1/resource/generic/"+id {
		t.Errorf("Location %q", location)
	}
	if w.Header().Get("ETag") == "" || w.Header().Get("Last-Modified") != "Fri, 02 Jan 2026 03:04:05 GMT" {
		t.Errorf("headers %v", w.Header())
	}
	created := w.Body.String()
	s.want(t, "GET /v1/resource/generic/"+strings.ToUpper(id), "", 200, created)
	s.want(t, "GET /v1/resource/generic", "", 200, "["+created+"]")
	s.want(t, "GET /v1/resource/generic/"+id, "", 200, created, "user", "jd") // in mode basic, all is read by everyone
	s.want(t, "POST /v1/resource/generic", `{"id":"`+id+`"}`, 409, "~Resource "+id+" already exists")

	// An id that is no UUID becomes one, made of it and its creator.
	s.want(t, "POST /v1/resource/generic", `{"id":"1.2.3.4","started_at":1388714522.5}`, 201,
		`~{"id": "a9c729cc-d1b0-5e6b-b5ba-8b5a7f45f1fc", "original_resource_id": "1.2.3.4"`)
	s.want(t, "GET /v1/resource/generic/1.2.3.4", "", 200, `~"started_at": "2014-01-03T02:02:02.500000+00:00"`)
	s.want(t, "GET /v1/resource/generic/1.2.3.4", "", 404, "~does not exist", "user", "jd")

	refuse := func(body string, part string) {
		t.Helper()
		s.want(t, "POST /v1/resource/generic", body, 400, "~"+part)
	}
	refuse(`{}`, "required key not provided @ data['id']")
	refuse(`{"id":"a/b"}`, "'/' is not supported in resource id")
	refuse(`{"id":"x","started_at":"2014-01-03","ended_at":"2013-01-03"}`,
		"Start timestamp cannot be after end timestamp")
	refuse(`{"id":"x","started_at":"1914-01-03"}`, "not a valid value")
	refuse(`{"id":"x","metrics":{"m":{"archive_policy_name":"none"}}}`, "Archive policy none does not exist")
	refuse(`{"id":"x","metrics":{"m":"`+id+`"}}`, "Metric "+id+" does not exist")
	refuse(`{"id":"x","metrics":{"m":"y"}}`, "not a valid value for dictionary value @ data['metrics']['m']")
	refuse(`{"id":"x","metrics":{"a/b":{"archive_policy_name":"simple"}}}`, "'/' is not supported in metric name")
	refuse(`{"id":"x","metrics":[]}`, "expected a dictionary for dictionary value @ data['metrics']")

	metrics := "/v1/resource/generic/" + id + "/metric"
	s.want(t, "GET "+metrics, "", 200, `~"name": "a.b", "unit": "x"`)
	s.want(t, "POST "+metrics, `{"c":{"archive_policy_name":"simple"}}`, 200, `~"name": "c"`)
	s.want(t, "POST "+metrics, `{"c":{"archive_policy_name":"simple"}}`, 409, "~Named metric c already exists")
	s.want(t, "POST "+metrics, `{"d":{"archive_policy_name":"simple"}}`, 403, "~403", "user", "jd")
	s.want(t, "GET "+metrics+"/c", "", 200, `~"resource": {"id": "`+id+`"`)
	s.want(t, "GET "+metrics+"/nope", "", 404, "~Metric nope does not exist")
	s.want(t, "GET /v1/resource/generic/nope/metric/c", "", 404, "~Resource ")
	s.want(t, "POST /v1/metric", `{"name":"c","resource_id":"`+id+`","archive_policy_name":"simple"}`, 400,
		`~{"cause": "Named metric already exists", "detail": "c"}`, "Accept", wantsJSON)
	s.want(t, "POST /v1/metric", `{"name":"e","resource_id":"`+id+`","archive_policy_name":"simple"}`, 403,
		"~403", "user", "jd")
	free := s.create(t, "/v1/metric", `{"archive_policy_name":"simple"}`)
	s.want(t, "POST /v1/resource/generic", `{"id":"owner","metrics":{"m":"`+free+`"}}`, 201,
		`~"metrics": {"m": "`+free+`"}`)
	s.want(t, "DELETE "+metrics+"/c", "", 204, "")
	s.want(t, "GET "+metrics+"/c", "", 404, "~Metric c does not exist")

	s.want(t, "DELETE /v1/resource/generic/"+id, "", 403, "~403", "user", "jd")
	s.want(t, "DELETE /v1/resource/generic/"+id, "", 204, "")
	s.want(t, "GET /v1/resource/generic/"+id, "", 404, fmt.Sprintf("~Resource %s does not exist", id))
}

// Metrics are listed by their newest measure, those without any as if theirs were the newest, page by page.
func TestMetricsByLastMeasure(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "low")
	names := map[string]string{}
	for name, at := range map[string]string{"b": "2100-01-02", "none": "", "a": "2100-01-01", "c": "2100-01-03"} {
		id := s.create(t, "/v1/metric", `{"archive_policy_name":"low","name":"`+name+`"}`)
		names[id] = name
		if at != "" {
			s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"`+at+
				`","value":1},{"timestamp":"2099-01-01","value":1}]`, 202, "")
			s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200, "~")
		}
	}
	want := func(query, want string, limit int) {
		t.Helper()
		var got []string
		for marker := ""; ; {
			var page []struct{ ID string }
			check(t, json.Unmarshal(s.want(t, fmt.Sprintf("GET /v1/metric?%s&limit=%d%s", query, limit, marker), "",
				200, "~").Body.Bytes(), &page))
			if len(page) == 0 {
				break
			}
			for _, m := range page {
				got = append(got, names[m.ID])
				marker = "&marker=" + m.ID
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s by %d: got %v, want %s", query, limit, got, want)
		}
	}
	for limit := 1; limit <= 5; limit++ {
		want("sort=last_measure_timestamp", "a b c none", limit)
		want("sort=last_measure_timestamp:desc", "none c b a", limit)
		want("sort=last_measure_timestamp:desc-nullslast", "c b a none", limit)
		want("sort=last_measure_timestamp&name=b", "b", limit)
		want("sort=archive_policy_name&sort=last_measure_timestamp:desc-nullslast", "c b a none", limit)
	}
}
