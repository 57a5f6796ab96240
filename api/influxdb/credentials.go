package influxdb

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
)

// withCredentials returns r with credentials that an Authenticator reads. The token of InfluxDB 2 and 3 is
// "user:password", or Keystone's token in that mode. InfluxDB 1 has parameters of the query.
func (a *Handlers) withCredentials(r *http.Request) *http.Request {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	query := r.URL.Query()
	switch {
	case strings.EqualFold(scheme, "Token"), strings.EqualFold(scheme, "Bearer"):
		token = strings.TrimSpace(token)
	case scheme == "" && query.Has("u"):
		token = query.Get("u") + ":" + query.Get("p")
	default:
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	switch user, _, complete := strings.Cut(token, ":"); {
	case !complete && a.Auth.Credentials() == auth.Token:
		r.Header.Set("X-Auth-Token", token)
	case user != "":
		if !complete {
			token += ":"
		}
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(token)))
	}
	return r
}
