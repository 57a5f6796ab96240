package api_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"golang.org/x/crypto/bcrypt"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/policy"
)

// In every mode of authentication, nobody sees by PromQL what somebody else's resources, series that were pushed, and
// metadata are called.
func TestPromQLAccessInAllModes(t *testing.T) {
	basic := func(user, password string) []string {
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth(user, password)
		return []string{"Authorization", r.Header.Get("Authorization")}
	}
	k := newKeystone(t, time.Now)
	tokens, err := auth.NewKeystone(auth.KeystoneOptions{URL: k.URL + "/identity/"})
	check(t, err)
	users := filepath.Join(t.TempDir(), "users")
	hash, err := bcrypt.GenerateFromPassword([]byte("pw"), bcrypt.MinCost)
	check(t, err)
	check(t, os.WriteFile(users, []byte("admin:"+string(hash)+"\njd:"+string(hash)+"\nother:"+string(hash)+"\n"),
		0o600))
	htpasswd, err := auth.NewHtpasswd(auth.HtpasswdOptions{File: users})
	check(t, err)
	role := map[string]string{"admin": "admin", "jd": "member", "other": "member"}
	for name, mode := range map[string]struct {
		auth auth.Authenticator
		as   func(user string) []string
	}{
		"basic": {auth.Basic{}, func(user string) []string { return []string{"user", user} }},
		"remoteuser": {auth.RemoteUser{Header: "X-Remote-User"}, func(user string) []string {
			return []string{"Authorization", "", "X-Remote-User", user}
		}},
		"htpasswd": {htpasswd, func(user string) []string { return basic(user, "pw") }},
		"headers": {auth.TrustedHeaders{}, func(user string) []string {
			return trusted(user, "project of "+user, role[user])
		}},
		"tokens": {tokens, func(user string) []string {
			return []string{"Authorization", "", "X-Auth-Token", user + " p" + user + " " + role[user]}
		}},
		"app credentials": {tokens, func(user string) []string {
			return basic(user+" p"+user+" "+role[user], "s3cret")
		}},
	} {
		for _, names := range []string{api.GnocchiNames, api.CeilometerNames} {
			t.Run(name+"/"+names, func(t *testing.T) {
				s := newServer(t, func(o *api.Options) { o.Auth, o.PromQLNames = mode.auth, names })
				s.create(t, "/v1/archive_policy",
					`{"name":"p","definition":[{"granularity":"1 second"}],"aggregation_methods":["last"]}`,
					mode.as("admin")...)
				s.create(t, "/v1/resource/generic",
					`{"id":"secret-host","user_id":"secret-user","project_id":"secret-project","metrics":{"secret_load":{"archive_policy_name":"p","unit":"secret"}}}`, mode.as("jd")...)
				s.create(t, "/v1/metric", `{"name":"secret_free","archive_policy_name":"p"}`, mode.as("jd")...)
				message, err := s2.Decode(nil,
					[]byte(
						remoteWrite(
							"secret_pushed 1 1000 secret_label=secret_value,project_id=pother,resource_id=secret")))
				check(t, err)
				nested := func(number protowire.Number, content []byte) []byte {
					return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
				}
				message = append(message, nested(3,
					append(nested(2, []byte("secret_pushed")), nested(4, []byte("secret help"))...))...)
				s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, message)), http.StatusNoContent, "",
					append(mode.as("jd"), asRemoteWrite...)...)
				s.want(t, "POST /v1/resource/generic/secret-host/metric/secret_load/measures",
					`[{"timestamp":1,"value":1}]`, http.StatusAccepted, "", mode.as("jd")...)
				s.want(t,
					"GET /v1/resource/generic/secret-host/metric/secret_load/measures?refresh=true&aggregation=last",
					"", http.StatusOK, "~1970", mode.as("jd")...)
				all := `{__name__!=""}`
				for _, path := range []string{
					"query?time=2&query=" + all, "query?time=2&query=count_values(%22v%22," + all + ")",
					"query?time=2&query=count%20by(__name__,project_id,secret_label)(" + all + ")",
					"query_range?start=1&end=9&step=1&query=last_over_time(" + all + "[1m])",
					"query?time=2&query=secret_load",
					"series?match[]=" + all, "series_count", "series_count?label=__name__&match[]=" + all, "labels",
					"labels?match[]=secret_pushed", "label/__name__/values", "label/project_id/values",
					"label/user_id/values",
					"label/resource_id/values", "label/secret_label/values", "label/unit/values",
					"label/original_resource_id/values", "metadata", "status/tsdb",
					"label/project/values", "label/resource/values", "label/counter/values", "label/type/values",
					"label/secret_load/values", "query?time=2&query=ceilometer_secret_load",
					"query?time=2&query=count%20by(project,resource,counter,user)(" + all + ")",
					"series?match[]={project=%22secret-project%22}&match[]=secret_pushed",
				} {
					for user, sees := range map[string]bool{"jd": true, "other": false, "admin": true} {
						w := s.want(t, "GET /api/v1/"+path, "", http.StatusOK, "~", mode.as(user)...)
						got := strings.Contains(w.Body.String(), "secret")
						if got && !sees {
							t.Errorf("%s: %s sees %s", path, user, w.Body)
						}
						if !got && sees && (path == "labels" && names == api.GnocchiNames ||
							strings.HasPrefix(path, "series") || path == "label/__name__/values" ||
							path == "metadata") {
							t.Errorf("%s: %s does not see what is theirs: %s", path, user, w.Body)
						}
					}
				}
			})
		}
	}
}

// A rule that an operator has replaced also counts for PromQL.
func TestPromQLByPolicyFile(t *testing.T) {
	rules, err := policy.Parse([]byte(`{"get measures": "role:admin", "create metric": "role:admin"}`))
	check(t, err)
	s := newServer(t, func(o *api.Options) { o.Policy = rules })
	s.want(t, "POST /api/v1/write", remoteWrite("up 1 1000 job=j"), http.StatusForbidden, "~",
		append([]string{"user", "jd"}, asRemoteWrite...)...)
	s.want(t, "POST /api/v1/write", remoteWrite("up 1 1000 job=j"), http.StatusNoContent, "",
		append([]string{"user", "admin"}, asRemoteWrite...)...)
	s.want(t, "GET /api/v1/labels", "", http.StatusOK, `{"status":"success","data":[]}`, "user", "jd")
	s.want(t, "GET /api/v1/labels", "", http.StatusOK, `{"status":"success","data":["__name__","job"]}`, "user",
		"admin")
}
