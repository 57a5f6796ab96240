package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/internal/version"
)

func floatBits(value float64) uint64 { return math.Float64bits(value) }

func TestInfluxDB(t *testing.T) {
	s := newServer(t, nil)
	for _, method := range []string{"GET", "HEAD"} {
		w := s.want(t, method+" /v1/influxdb/ping", "", 204, "", "Authorization", "", "Accept", "text/plain")
		if w.Header().Get("X-Influxdb-Version") != "Gnocco "+version.Number {
			t.Errorf("%s ping: %v", method, w.Header())
		}
	}
	query := func(status int, q, user string) {
		t.Helper()
		s.want(t, "POST /v1/influxdb/query?q="+url.QueryEscape(q), "", status, "~", "user", user)
	}
	query(403, "create database telegraf", "jd")
	s.want(t, "GET /v1/resource_type/telegraf", "", 404, "~")
	query(204, "create database telegraf", "admin")
	query(204, "create database telegraf", "admin")
	query(204, `CREATE DATABASE "my db"`, "admin")
	s.want(t, "GET /v1/resource_type/telegraf", "", 200, `~"attributes": {}`)
	s.want(t, "GET /v1/resource_type/my%20db", "", 200, `~"name": "my db"`)
	s.want(t, "POST /v1/influxdb/query", "q=create+database+formed", 204, "", "user", "admin", "Content-Type",
		"application/x-www-form-urlencoded")
	s.want(t, "GET /v1/resource_type/formed", "", 200, `~"name": "formed"`)
	s.want(t, "POST /v1/influxdb/query", "", 204, "", "user", "admin")
	s.want(t, "POST /v1/influxdb/query?q=select+metrics+plz", "", 501,
		`~{"cause": "Not implemented error", "reason": "Query not implemented", "detail": "q"}`, "Accept", wantsJSON)
	s.want(t, "POST /v1/influxdb/query?q=", "", 501, "~")
	s.want(t, "POST /v1/influxdb/query", "q=%zz", 400, "~form could not be read", "Content-Type",
		"application/x-www-form-urlencoded")
	query(400, "create database "+strings.Repeat("a", 300), "admin")

	s.rule(t)
	write := func(parameters, lines string, headers ...string) {
		t.Helper()
		s.want(t, "POST /v1/influxdb/write?db=telegraf"+parameters, lines, 204, "",
			append([]string{"Content-Type", "text/plain"}, headers...)...)
	}
	measures := func(path, want string) {
		t.Helper()
		s.want(t, "GET /v1/resource/telegraf/"+path+"/measures?refresh=true", "", 200, want)
	}
	write("", "mymetric,host=foobar,mytag=myvalue field=123 1510581804179554816")
	measures("foobar/metric/mymetric.field@mytag=myvalue", `[["2017-11-13T14:03:24+00:00", 1.0, 123.0]]`)
	write("",
		"mymetric,host=foobar,mytag=myvalue field=123 1510581804179554816\ncpu,path=/foobar,mytag=myvalue field=43i 1510581804179554816", "X-Gnocchi-InfluxDB-Tag-Resource-ID", "mytag")
	measures("myvalue/metric/mymetric.field@host=foobar", `[["2017-11-13T14:03:24+00:00", 1.0, 123.0]]`)
	measures("myvalue/metric/cpu.field@path=_foobar", `[["2017-11-13T14:03:24+00:00", 1.0, 43.0]]`)

	// Lines of one metric in any order between others; without a timestamp it is now.
	write("&precision=s", "m,host=a f=1,g=2 10\nm,host=b f=3 10\nm,host=a f=4 11\nm,host=a f=5")
	measures("a/metric/m.f",
		`[["1970-01-01T00:00:10+00:00", 1.0, 1.0], ["1970-01-01T00:00:11+00:00", 1.0, 4.0], ["2026-01-02T03:04:05+00:00", 1.0, 5.0]]`)
	measures("b/metric/m.f", `[["1970-01-01T00:00:10+00:00", 1.0, 3.0]]`)
	write("", "")
	write("", "m,host=a f=\"text\"")

	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte("m,host=zip f=1 1000000000"))
	check(t, err)
	check(t, zip.Close())
	write("", zipped.String(), "Content-Encoding", "gzip")
	measures("zip/metric/m.f", `[["1970-01-01T00:00:01+00:00", 1.0, 1.0]]`)

	s.want(t, "POST /v1/resource/generic", `{"id":"conflict"}`, 201, "~")
	s.want(t, "POST /v1/influxdb/write?db=telegraf", "m,host=conflict f=1 5", 409,
		`~"cause": "Resource already exists"`, "Accept", wantsJSON)
	s.want(t, "POST /v1/influxdb/write?db=telegraf", "m,host=c f=1 5\nm,host=conflict f=1 5", 400,
		`~"cause": "Resource already exists"`, "Accept", wantsJSON)
	s.want(t, "GET /v1/resource/telegraf/c", "", 200, "~")
}

// A line with a fault is lost alone, and the answer names the line and the fault. The answer is JSON: without it,
// Telegraf repeats the batch forever.
func TestInfluxDBRefusesLines(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/influxdb/query?q=create+database+influxdb", "", 204, "", "user", "admin")
	s.policy(t, "low")
	s.want(t, "POST /v1/archive_policy_rule", `{"name":"r","archive_policy_name":"low","metric_pattern":"cpu*"}`, 201, "~",
		"user", "admin")
	s.want(t, "POST /v1/resource/generic", `{"id":"conflict"}`, 201, "~")
	var labels strings.Builder
	for i := range 20 {
		fmt.Fprintf(&labels, ",label_%d=%s", i, strings.Repeat("v", 20))
	}
	for n, line := range []string{
		"cpu_docker,host=b" + labels.String() + " n=1i", "cpu n=1i", "cpu,host=b n=NaN", "cpu,host=b/1 n=1i",
		"cpu,host=b,path= n=1i", "cpu,host=b msg=\"open,n=1i", "cpu,host=b n=", "cpu,host=b n=1i x", "cpu,host=b n=1i 5 5",
		"cpu,host=conflict n=1i", "disk,host=b n=1i", "cpu,host=b", "cpu,host=b n=1i -1", "cpu,host=b\xff n=1i",
		"cpu,host=b n=1i,m=x",
	} {
		host := fmt.Sprint("h", n)
		good := func(from, to int) (lines string) {
			for i := from; i < to; i++ {
				lines += fmt.Sprintf("cpu,host=%s,cpu=%d n=%di %d\n", host, i, i, 1e9+i)
			}
			return lines
		}
		w := s.want(t, "POST /v1/influxdb/write", good(0, 20)+line+"\n"+good(20, 50), 400,
			"~partial write: 1 of 51 lines refused: line 21: ", "Accept", "")
		if kind := w.Header().Get("Content-Type"); kind != "application/json" || w.Body.Len() > 1500 {
			t.Errorf("%q: %s of %d bytes: %s", line, kind, w.Body.Len(), w.Body)
		}
		w = s.want(t, "GET /v1/resource/influxdb/"+host, "", 200, "~")
		if stored := strings.Count(w.Body.String(), "cpu.n@"); stored != 50 {
			t.Errorf("%q: %d lines stored", line, stored)
		}
	}
	// Several, some of which are found out later than others; of a line that was refused for a field, the others count.
	s.want(t, "POST /v1/influxdb/write", "cpu,host=x a=1 5\ndisk n=1 5\ncpu,host=x b=x 5\n\n cpu,host=x "+
		strings.Repeat("n", 255)+"=1,c=1 5\ncpu,host=x s=\"\n\",d=1 5\nnonsense", 400,
		"~4 of 6 lines refused: line 2: Unable to find key `host' in tags; line 3: the value of a field is not a number, "+
			"boolean or text in quotes; line 5: ")
	w := s.want(t, "GET /v1/resource/influxdb/x", "", 200, "~")
	for _, name := range []string{"cpu.a", "cpu.c", "cpu.d"} {
		if !strings.Contains(w.Body.String(), `"`+name+`"`) {
			t.Errorf("%s is not stored: %s", name, w.Body)
		}
	}
	// The answer is bounded for every fault.
	for _, line := range []string{"nonsense\n", "cpu n=1\n", "disk" + strings.Repeat("k", 5000) + ",host=x n=1\n"} {
		w = s.want(t, "POST /v1/influxdb/write", strings.Repeat(line, 500), 400,
			"~partial write: 500 of 500 lines refused", "Accept", wantsJSON)
		if w.Body.Len() > 20<<10 || !strings.Contains(w.Body.String(), "; and 480 more") ||
			!strings.Contains(w.Body.String(), "; line 20: ") {
			t.Errorf("%.20q: %d bytes: %.1000s", line, w.Body.Len(), w.Body)
		}
	}
}

// A resource's ID may be the UUID of another user's resource. Users write only to their own, known or not.
func TestInfluxDBKeepsUsersApart(t *testing.T) {
	s := newServer(t, nil)
	s.rule(t)
	s.want(t, "POST /v1/influxdb/query?q=create+database+influxdb", "", 204, "", "user", "admin")
	const id = "b4d568e4-7af1-5aec-ac3f-9c09fa3685a9"
	write := func(user, lines string, status int) {
		t.Helper()
		s.want(t, "POST /v1/influxdb/write", lines, status, "~", "user", user)
	}
	write("jd", "m,host="+id+" f=1 1000000000", 204)
	write("foobar", "m,host="+id+" f=2 1000000000", 403)
	write("foobar", "m,host="+id+" f=2,new=2 1000000000\nm,host=mine f=2 1000000000", 403)
	write("admin", "m,host="+id+" g=3 1000000000", 204)
	write("jd", "m,host="+id+" g=4 2000000000", 204)
	s.want(t, "GET /v1/resource/influxdb/"+id+"/metric/m.f/measures?refresh=true", "", 200,
		`[["1970-01-01T00:00:01+00:00", 1.0, 1.0]]`, "user", "jd")
	s.want(t, "GET /v1/resource/influxdb/"+id+"/metric/m.g/measures?refresh=true", "", 200,
		`[["1970-01-01T00:00:01+00:00", 1.0, 3.0], ["1970-01-01T00:00:02+00:00", 1.0, 4.0]]`, "user", "jd")
	s.want(t, "GET /v1/resource/influxdb/mine", "", 404, "~", "user", "foobar")

	// A metric that moved to another resource, or has another name now, is not what the line means any more.
	write("jd", "m,host=moving f=1 1000000000", 204)
	var resource struct{ Metrics map[string]string }
	check(t, json.NewDecoder(s.want(t, "GET /v1/resource/influxdb/moving", "", 200, "~", "user",
		"jd").Body).Decode(&resource))
	moved := resource.Metrics["m.f"]
	s.want(t, "POST /v1/resource/generic", `{"id":"other","metrics":{"renamed":"`+moved+`"}}`, 201, "~", "user", "jd")
	write("jd", "m,host=moving f=2 2000000000", 204)
	s.want(t, "GET /v1/metric/"+moved+"/measures?refresh=true", "", 200,
		`[["1970-01-01T00:00:01+00:00", 1.0, 1.0]]`, "user", "jd")
	s.want(t, "GET /v1/resource/influxdb/moving/metric/m.f/measures?refresh=true", "", 200,
		`[["1970-01-01T00:00:02+00:00", 1.0, 2.0]]`, "user", "jd")
}

func TestInfluxDBRefuses(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.MaxBodyBytes = 1000 })
	s.want(t, "POST /v1/influxdb/query?q=create+database+influxdb", "", 204, "", "user", "admin")
	f := func(status int, part, parameters, body string, headers ...string) {
		t.Helper()
		s.want(t, "POST /v1/influxdb/write"+parameters, body, status, "~"+part,
			append([]string{"Accept", wantsJSON}, headers...)...)
	}
	f(400, "no archive policy rule found matching the metric name m.f", "", "m,host=a f=1 5")
	s.rule(t)
	f(204, "", "", "m,host=a f=1 5")
	f(404, "Resource type nowhere does not exist", "?db=nowhere", "m,host=a f=1 5")
	f(204, "", "?db=nowhere", "")
	f(400, `"detail": "precision"`, "?precision=d", "m,host=a f=1 5")
	f(400, `{"cause": "Value error", "reason": "Unable to parse line 2: no fields", "detail": "line"}`, "",
		"m,host=a f=1 5\nm,host=a")
	f(400, "Unable to parse line 1: tags are not of the form key=value", "", "m,host f=1 5")
	f(400, `{"cause": "Value error", "reason": "Unable to find key `+"`host'"+
		` in tags", "detail": "key"}`, "", "m,a=b f=1 5")
	f(400, "not supported in resource id", "", "m,host=a/b f=1 5")
	f(400, "name must not be longer", "", "m"+strings.Repeat("m", 256)+",host=a f=1 5")
	f(401, "", "", "m,host=a f=1 5", "Authorization", "")
	f(413, "", "", strings.Repeat("m,host=a f=1 5\n", 100))
	f(415, "", "", "m,host=a f=1 5", "Content-Encoding", "br")
	f(400, "could not be uncompressed", "", "m,host=a f=1 5", "Content-Encoding", "gzip")
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, err := zip.Write(make([]byte, 2000))
	check(t, err)
	check(t, zip.Close())
	f(413, "", "", bomb.String(), "Content-Encoding", "gzip")
}

// Without accept_partial InfluxDB 3 stores all lines or none, for any fault of a line.
func TestInfluxDBStoresAllOrNothing(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Limits.NewSeries = 3 })
	post := func(status int, want string, lines ...string) {
		t.Helper()
		s.want(t, "POST /api/v3/write_lp?db=d&precision=second&accept_partial=false", strings.Join(lines, "\n"), status,
			"~"+want)
	}
	post(204, "", "known v=1 60", "known v=2 61")
	for odd, reason := range map[string]string{
		"bad": "no fields", `bad t="x"`: "no field is a number", "bad,a=1,a=2 v=1 60": "", "bad,__name__=x v=1 60": "",
		"\xff v=1 60": "", "bad v=1 9000000000": "A measure may be", "bad v=1,v=2 60": "bad_v: 1 measure replaced",
		"good v=2 60":                "good_v: 1 measure replaced",
		"known v=8 60\nknown v=9 60": "known_v: 1 measure replaced",
		"bad,of=" + strings.Repeat("x", 70000) + " v=1 60": "",
	} {
		lines := 2 + strings.Count(odd, "\n")
		want := fmt.Sprintf(`"nothing was written: 1 of %d lines refused: line 1: %s`, lines, reason)
		post(400, want, odd, "good v=1 60")
	}
	post(429, "may begin 3 series", "a v=1 60", "b v=1 60", "c v=1 60", "known v=3 60")
	s.refreshAll(t, "admin")
	s.want(t, "GET /api/v1/label/__name__/values", "", 200, `~"data":["known_v"]`)
	s.want(t, "GET /api/v1/export?match[]=known_v", "", 200, `~"values":[1,2],"timestamps":[60000,61000]`)
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="influxdb",reason="whole"}`)
	post(204, "", "good,b=1,a=2 v=1 60", "good,a=2,b=1 v=1 60", "good,a=2,b=1 v=2 61")
	s.refreshAll(t, "admin")
	s.want(t, "GET /api/v1/export?match[]=good_v", "", 200, `~"values":[1,2],"timestamps":[60000,61000]`)
}

// Of two values of a metric and time, Gnocchi's way in names the line of the one that is not stored.
func TestInfluxDBNamesReplacedValues(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/influxdb/query?q=create+database+influxdb", "", 204, "", "user", "admin")
	s.policy(t, "low")
	s.want(t, "POST /v1/archive_policy_rule", `{"name":"r","archive_policy_name":"low","metric_pattern":"*"}`, 201, "~", "user", "admin")
	for body, want := range map[string]string{
		"cpu,host=a n=1,n=2 60000000000":                             "1 of 1 line refused: line 1",
		"cpu,host=b a/b=1 60000000000\ncpu,host=b a_b=2 60000000000": "1 of 2 lines refused: line 1",
	} {
		s.want(t, "POST /v1/influxdb/write", body, http.StatusBadRequest, "~"+want+": ", "user", "admin")
	}
	s.want(t, "POST /v1/influxdb/write", "cpu,host=c n=1,n=1 60000000000", 204, "", "user", "admin")
}
