package api_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
)

// Each field of a line is a series with the line's tags, under the names that InfluxDB's own routes have.
func TestInfluxDBSeries(t *testing.T) {
	s := newServer(t, nil)
	write := func(path, lines string, status int, want string, headers ...string) {
		t.Helper()
		s.want(t, "POST "+path, lines, status, want, append([]string{"user", "jd"}, headers...)...)
	}
	query := func(expr, want string) {
		t.Helper()
		s.refreshAll(t, "jd")
		s.want(t, "GET /api/v1/query?time=100&query="+expr, "", 200, "~"+want, "user", "jd")
	}
	write("/write?db=telegraf&precision=s", "cpu,host=a,path=/x\\ y usage_idle=97.5,name=\"text\",up=t 60\n"+
		"cpu,path=/x\\ y,host=a usage_idle=98 90", 204, "")
	query(`cpu_usage_idle`,
		`"result":[{"metric":{"__name__":"cpu_usage_idle","db":"telegraf","host":"a","path":"/x y"},"value":[100,"98"]}]`)
	query(`count_over_time(cpu_usage_idle[1m])`, `[100,"2"]`)
	query(`cpu_up{host="a"}`, `[100,"1"]`)
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="influxdb",reason="text"} 1`)
	s.want(t, "GET /metrics", "", 200, `~gnocco_pushed_measures_total{protocol="influxdb"} 3`)

	// The database is a label, so two of them do not mix; a tag of that name is the sender's own.
	write("/api/v2/write?org=o&bucket=b&precision=ms", "cpu,host=a usage_idle=1 60000\ncpu,db=x usage_idle=2 60000", 204, "")
	query(`cpu_usage_idle{db="b"}`, `{"__name__":"cpu_usage_idle","db":"b","host":"a"},"value":[100,"1"]`)
	query(`cpu_usage_idle{db="x"}`, `{"__name__":"cpu_usage_idle","db":"x"},"value":[100,"2"]`)
	write("/write", "bare f=1 60000000000", 204, "")
	query(`bare_f`, `{"__name__":"bare_f"}`)

	// Good lines are stored, and the answer names the others.
	write("/api/v2/write?precision=s", "ok f=1 60\nbad f= 60\nok2 f=2 60\nlong,a="+strings.Repeat("l", 17<<10)+" f=1 60", 400,
		`~"code": "invalid", "message": "partial write: 2 of 4 lines refused: line 2: the value of a field is not`)
	query(`ok_f`, `"1"`)
	query(`ok2_f`, `"2"`)
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="influxdb",reason="unreadable"} 1`)
	write("/write?precision=week", "ok f=1 60", 400, `~"error": "Unknown precision \"week\""`)
	write("/write", "ok f=1 9000000000000000000", 400, `~ahead of the server's clock`)

	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte("zip f=5 60000000000"))
	check(t, err)
	check(t, zip.Close())
	write("/api/v2/write", zipped.String(), 204, "", "Content-Encoding", "gzip")
	query(`zip_f`, `"5"`)

	for _, method := range []string{"GET", "HEAD"} {
		s.want(t, method+" /ping", "", 204, "", "Authorization", "")
	}
	s.want(t, "GET /health", "", 200, `~"status": "pass"`, "Authorization", "")
	write("/query?q=CREATE+DATABASE+x", "", 200, `{"results": [{"statement_id": 0}]}`)
	write("/query?q=select+1", "", 501, `~CREATE DATABASE`)
}

// InfluxDB's clients send tokens, or a user and password as parameters.
func TestInfluxDBCredentials(t *testing.T) {
	s := newServer(t, nil)
	f := func(path, authorization, user string) {
		t.Helper()
		s.want(t, "POST "+path, "by_"+user+" f=1 60000000000", 204, "", "Authorization", authorization)
		s.want(t, "GET /v1/metric?name=by_"+user+"_f", "", 200, `~"creator": "`+user+`"`, "user", user)
	}
	f("/api/v2/write", "Token jd:secret", "jd")
	f("/api/v2/write", "Token ann", "ann")
	f("/write?u=bob&p=secret", "", "bob")
	s.want(t, "POST /write", "x f=1", 401, `~"code": "unauthorized"`, "Authorization", "")
	s.want(t, "POST /write", "x f=1", 401, `~"code": "unauthorized"`, "Authorization", "Token ")
	keystone := newServer(t, func(o *api.Options) { o.Auth = tokenAuth{} })
	keystone.want(t, "POST /api/v2/write", "x f=1 60000000000", 204, "", "Authorization", "Token secret")
}

// tokenAuth knows one token.
type tokenAuth struct{ auth.TrustedHeaders }

func (tokenAuth) Authenticate(r *http.Request) (*auth.Identity, error) {
	if r.Header.Get("X-Auth-Token") != "secret" {
		return nil, auth.ErrNoCredentials
	}
	return auth.Basic{}.Authenticate(&http.Request{Header: http.Header{"Authorization": {"Basic YWRtaW46eA=="}}})
}

func (tokenAuth) Credentials() auth.Credentials { return auth.Token }
