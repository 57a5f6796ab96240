package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
)

const aID = "3b9e2f6c-0000-4000-8000-00000000000a"

// A resource of another type can be changed as a generic one, and keeps its attributes.
func TestAsGeneric(t *testing.T) {
	s := typed(t)
	const generic, all = "/v1/resource/generic/" + aID, "/v1/resource/all/" + aID
	s.want(t, "POST /v1/resource/all", `{"id":"`+aID+`","s":"one"}`, 201, "~")
	s.want(t, "PATCH "+generic, `{"s":"two"}`, 400, "~extra keys not allowed")
	s.want(t, "PATCH "+generic, `{"user_id":"u"}`, 200, `~"revision_end": null, "metrics": {}}`)
	s.want(t, "GET "+all, "", 200, `~"s": "one"`)
	s.want(t, "GET "+all+"/history", "", 200, `~"s": "one"`)
	s.want(t, "POST /v1/resource_type", `{"name":"other"}`, 201, "~", "user", "admin")
	s.want(t, "GET /v1/resource/other/"+aID, "", 404, "~")
	s.want(t, "PATCH /v1/resource/other/"+aID, `{}`, 404, "~")
	s.want(t, "DELETE /v1/resource/other/"+aID, "", 404, "~")
	s.want(t, "POST /v1/resource/other", `{"id":"`+aID+`"}`, 409, "~already exists")
	s.want(t, "DELETE "+generic, "", 204, "")
	s.want(t, "GET "+all, "", 404, "~")
}

// typed serves resources of a type with one attribute of each kind, at times that go on by a minute.
func typed(t *testing.T) *server {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	s := newServer(t, func(o *api.Options) {
		o.SetNow(func() time.Time {
			now = now.Add(time.Minute)
			return now
		})
	})
	s.policy(t, "low")
	s.want(t, "POST /v1/resource_type",
		`{"name":"all","attributes":{"s":{"type":"string","min_length":2,"max_length":5},`+
			`"u":{"type":"uuid","required":false},"n":{"type":"number","required":false,"min":-2,"max":3.5},"b":{"type":"bool","required":false},`+
			`"t":{"type":"datetime","required":false}}}`, 201, "~", "user", "admin")
	return s
}

func TestAttributes(t *testing.T) {
	s := typed(t)
	s.want(t, "POST /v1/resource/all", `{"id":"a","s":"née","u":"URN:uuid:x","n":1}`, 400,
		"~badly formed hexadecimal UUID string")
	s.want(t, "POST /v1/resource/all",
		`{"id":"a","s":"née","u":"3B9E2F6C000040008000000000000001","n":-2,"b":false,"t":"2017-05-02T11:11:11Z"}`, 201,
		`~"b": false, "n": -2.0, "s": "née", "t": "2017-05-02T11:11:11+00:00", "u": "3b9e2f6c-0000-4000-8000-000000000001", "metrics": {}`)
	refuse := func(fields, reason string) {
		t.Helper()
		s.want(t, "POST /v1/resource/all", `{"id":"b",`+fields+`}`, 400, "~"+reason, "Accept", wantsJSON)
		s.want(t, "PATCH /v1/resource/all/a", `{`+fields+`}`, 400, "~"+reason, "Accept", wantsJSON)
	}
	refuse(`"s":"x"`,
		`"reason": "length of value must be at least 2 for dictionary value @ data['s']", "detail": ["s"]`)
	refuse(`"s":"longer"`, `length of value must be at most 5`)
	refuse(`"s":null`, `expected str`)
	refuse(`"s":"ok","u":5`, `badly formed hexadecimal UUID string`)
	refuse(`"s":"ok","n":"1"`, `expected Real`)
	refuse(`"s":"ok","n":1e999`, `expected Real`)
	refuse(`"s":"ok","n":-2.5`, `value must be at least -2`)
	refuse(`"s":"ok","n":3.75`, `value must be at most 3.5`)
	refuse(`"s":"ok","b":1`, `expected bool`)
	refuse(`"s":"ok","t":"soon"`, `Unable to convert timestamps`)
	refuse(`"s":"ok","t":null`, `expected str`)
	refuse(`"s":"ok","other":1`, `extra keys not allowed @ data['other']`)
	refuse(`"s":"ok","user_id":1`, `not a valid value`)
	refuse(`"s":"ok","started_at":"2020-01-01","ended_at":"2019-01-01"`,
		`Start timestamp cannot be after end timestamp`)
	s.want(t, "POST /v1/resource/all", `{"id":"b"}`, 400, "~required key not provided @ data['s']", "Accept", wantsJSON)
	s.want(t, "POST /v1/resource/none", `{"id":"b"}`, 404, "~Resource type none does not exist")
	s.want(t, "GET /v1/resource/all/b", "", 404, "~")
	s.want(t, "GET /v1/resource/generic/a/history", "", 200, `~"revision_end": null`)
	if states := strings.Count(s.call(t, "GET /v1/resource/all/a/history", "").Body.String(),
		"revision_start"); states != 1 {
		t.Errorf("refused patches left %d states", states)
	}
}

func TestPatchResource(t *testing.T) {
	s := typed(t)
	const path = "/v1/resource/all/" + aID
	s.want(t, "PATCH "+path, `{"s":"xx"}`, 404, "~")
	created := s.want(t, "POST /v1/resource/all", `{"id":"`+aID+
		`","s":"one","user_id":"u","metrics":{"cpu":{"archive_policy_name":"low"}}}`, 201, `~"s": "one"`)
	s.want(t, "PATCH "+path, `{"s":"two"}`, 403, "~403", "user", "other")
	s.want(t, "PATCH "+path, ``, 400,
		`~{"cause": "Unable to decode body", "reason": "Expected object or value", "detail": []}`, "Accept", wantsJSON)
	s.want(t, "PATCH "+path, `{"id":"b"}`, 400, `~extra keys not allowed @ data['id']`)
	tag := created.Header().Get("ETag")
	same := s.want(t, "PATCH "+path, `{"s":"one","user_id":"u"}`, 200, `~"s": "one"`)
	if same.Header().Get("ETag") != tag {
		t.Error("a patch that changes nothing makes a revision")
	}
	patched := s.want(t, "PATCH "+path, `{"s":"two","user_id":null}`, 200, `~"user_id": null, "project_id": null`)
	if patched.Header().Get("ETag") == tag {
		t.Error("a revision has the ETag of the one before")
	}
	s.want(t, "PATCH "+path, `{"metrics":{"mem":{"archive_policy_name":"low","unit":"B"}}}`, 200,
		`~"metrics": {"mem": "`)
	s.want(t, "GET "+path+"/metric/cpu", "", 404, "~Metric cpu does not exist")
	s.want(t, "GET /v1/metric?name=cpu", "", 200, `~"resource_id": null`)
	s.want(t, "PATCH "+path, `{"metrics":{"mem":{"archive_policy_name":"none"}}}`, 400,
		"~Archive policy none does not exist")
	s.want(t, "PATCH "+path, `{"metrics":{"mem":"3b9e2f6c-0000-4000-8000-000000000001"}}`, 400,
		"~Metric 3b9e2f6c-0000-4000-8000-000000000001 does not exist")
	s.want(t, "PATCH "+path, `{"metrics":{"mem":"x"}}`, 400, "~not a valid value")
	// By another's hand, the metric is still the resource's creator's.
	s.want(t, "PATCH "+path, `{"metrics":{"disk":{"archive_policy_name":"low"}}}`, 200, `~"disk"`, "user", "admin")
	s.want(t, "GET "+path+"/metric/disk", "", 200, `~"creator": "foobar"`)
	s.want(t, "GET "+path+"/history", "", 200, `~"s": "one"`)
	// New states come first.
	s.want(t, "POST "+path+"/metric", `{"zoo":{"archive_policy_name":"low"}}`, 200, "~")
	if names := s.call(t, "POST "+path+"/metric", `{"elk":{"archive_policy_name":"low"}}`).Body.String(); strings.Index(
		names, "elk") > strings.Index(names, "disk") {
		t.Errorf("metrics %s", names)
	}
	s.want(t, "POST "+path+"/metric", `{"elk":{"archive_policy_name":"low"}}`, 409, "~Named metric elk already exists")
	s.want(t, "POST "+path+"/metric", `{"ant":{"archive_policy_name":"none"}}`, 400,
		"~Archive policy none does not exist")
	s.want(t, "POST "+path+"/metric", `{"ant":{"archive_policy_name":"low"}}`, 403, "~", "user", "other")
	s.want(t, "GET "+path+"/metric/ant", "", 404, "~")
}

func TestPreconditions(t *testing.T) {
	s := typed(t)
	const path = "/v1/resource/all/a"
	w := s.want(t, "POST /v1/resource/all", `{"id":"a","s":"one"}`, 201, "~")
	tag, modified := w.Header().Get("ETag"), w.Header().Get("Last-Modified")
	began, err := time.Parse(time.RFC1123, modified)
	check(t, err)
	before, after := began.Add(-time.Second).Format(time.RFC1123), began.Add(time.Second).Format(time.RFC1123)
	before, after = strings.Replace(before, "UTC", "GMT", 1), strings.Replace(after, "UTC", "GMT", 1)
	f := func(status int, headers ...string) {
		t.Helper()
		if w := s.call(t, "GET "+path, "", headers...); w.Code != status {
			t.Errorf("%v: %d, want %d", headers, w.Code, status)
		} else if status == 304 && (w.Body.Len() > 0 || w.Header().Get("ETag") != tag) {
			t.Errorf("%v: a 304 with %d bytes, ETag %s", headers, w.Body.Len(), w.Header().Get("ETag"))
		}
	}
	f(200, "If-Match", tag)
	f(200, "If-Match", "*")
	f(200, "If-Match", `"x", `+tag)
	f(412, "If-Match", `"x"`)
	f(412, "If-Match", `"x"`, "If-Unmodified-Since", after)
	f(304, "If-None-Match", tag)
	f(304, "If-None-Match", "*")
	f(304, "If-None-Match", "W/"+tag)
	f(200, "If-None-Match", `"x"`)
	f(200, "If-None-Match", `"x"`, "If-Modified-Since", after)
	f(304, "If-Modified-Since", modified)
	f(304, "If-Modified-Since", after)
	f(200, "If-Modified-Since", before)
	f(412, "If-Unmodified-Since", before)
	f(200, "If-Unmodified-Since", modified)
	f(200, "If-Unmodified-Since", "yesterday")

	s.want(t, "PATCH "+path, `{"s":"two"}`, 412, "~", "If-Match", `"x"`)
	s.want(t, "PATCH "+path, `{"s":"two"}`, 412, "~", "If-None-Match", "*")
	s.want(t, "DELETE "+path, "", 412, "~", "If-Unmodified-Since", before)
	s.want(t, "DELETE "+path, "", 412, "~", "If-None-Match", tag)
	s.want(t, "PATCH "+path, `{"s":"two"}`, 200, `~"s": "two"`, "If-Match", tag)
	s.want(t, "PATCH "+path, `{"s":"six"}`, 412, "~", "If-Match", tag)
	s.want(t, "DELETE "+path, "", 412, "~", "If-Match", tag)
	s.want(t, "DELETE "+path, "", 204, "")
}

func TestResourceHistory(t *testing.T) {
	s := typed(t)
	const path = "/v1/resource/all/" + aID
	s.want(t, "POST /v1/resource/all", `{"id":"`+aID+`","s":"one"}`, 201, "~")
	for _, text := range []string{"two", "two", "six"} {
		s.want(t, "PATCH "+path, `{"s":"`+text+`"}`, 200, "~"+text)
	}
	id := s.create(t, "/v1/resource/generic", `{"id":"other"}`)
	history := func(query, want string, linked bool) {
		t.Helper()
		w := s.want(t, "GET "+path+"/history"+query, "", 200, "~")
		var got string
		for _, part := range strings.Split(w.Body.String(), `"s": "`)[1:] {
			got += part[:3] + " "
		}
		if got != want || (w.Header().Get("Link") != "") != linked {
			t.Errorf("%s: %s, link %s; want %s", query, got, w.Header().Get("Link"), want)
		}
	}
	history("", "one two six ", false)
	history("?sort=revision_end:desc-nullslast", "two one six ", false)
	history("?limit=2", "one two ", true)
	history("?limit=1&marker="+aID+"@1", "two ", true)
	history("?marker="+strings.ToUpper(aID)+"@2", "six ", false)
	history("?marker="+aID+"@-1", "", false)
	s.want(t, "GET "+path+"/history?marker="+id+"@1", "", 400, "~Invalid marker")
	s.want(t, "GET "+path+"/history?marker=x@y", "", 400, "~Invalid marker")
	s.want(t, "GET "+path+"/history?sort=none", "", 400, "~none")
	s.want(t, "GET "+path+"/history?limit=0", "", 400, "~limit")
	s.want(t, "GET "+path+"/history?details=perhaps", "", 400, "~details")
	s.want(t, "GET /v1/resource/all/b/history", "", 404, "~")
	s.want(t, "POST "+path+"/history", "", 405, "~")
	s.want(t, "GET /v1/resource/generic/"+aID+"/history", "", 200, `~"type": "all", `) // without the type's attributes
	if strings.Contains(s.call(t, "GET /v1/resource/generic/"+aID+"/history", "").Body.String(), `"s":`) {
		t.Error("as generic, attributes are shown")
	}
}
