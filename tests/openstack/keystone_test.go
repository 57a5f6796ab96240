package openstack_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

const (
	userID    = "6d6bd0ac5a4a4ffaa6a1a3a1d4a3b3f0"
	projectID = "d4f1e2c3b5a697887960504132231405"
	secret    = "s3cret"
	token     = "the-token"
)

// keystone is what OpenStack's services and the server ask of Keystone's API: versions, one token with a catalog, its
// validation, and projects by name.
type keystone struct {
	*httptest.Server
	metricURL string // of the catalog
}

// registration is what docs/send/ceilometer.md has users enter into the catalog.
var registration = regexp.MustCompile(`(?m)^openstack service create --name (\S+) metric$|` +
	`^openstack endpoint create --region RegionOne metric (\S+) http`)

func newKeystone(t *testing.T) *keystone {
	k := new(keystone)
	page, err := os.ReadFile("../../docs/send/ceilometer.md")
	fatal.If(t, err)
	var metricName string
	var metricInterfaces []string
	for _, entered := range registration.FindAllStringSubmatch(string(page), -1) {
		if metricName = cmp.Or(metricName, entered[1]); entered[2] != "" {
			metricInterfaces = append(metricInterfaces, entered[2])
		}
	}
	answer := func(w http.ResponseWriter, status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	type object = map[string]any
	describe := func() object {
		service := func(kind, name, url string, interfaces ...string) object {
			endpoints := []object{}
			for _, name := range interfaces {
				endpoints = append(endpoints, object{"id": kind + name, "interface": name, "region": "RegionOne",
					"region_id": "RegionOne", "url": url})
			}
			return object{"id": kind, "type": kind, "name": name, "endpoints": endpoints}
		}
		now := time.Now().UTC()
		domain := object{"id": "default", "name": "Default"}
		return object{"token": object{"methods": []string{"password"},
			"issued_at":  now.Format("2006-01-02T15:04:05.000000Z"),
			"expires_at": now.Add(time.Hour).Format("2006-01-02T15:04:05.000000Z"),
			"user":       object{"id": userID, "name": "telemetry", "domain": domain},
			"project":    object{"id": projectID, "name": "service", "domain": domain},
			"roles":      []object{{"id": "1", "name": "admin"}},
			"catalog": []object{service("metric", metricName, k.metricURL, metricInterfaces...),
				service("identity", "keystone", k.URL+"/v3", "public", "internal", "admin")}}}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v3", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, object{"version": object{"id": "v3.14", "status": "stable",
			"links": []object{{"rel": "self", "href": k.URL + "/v3/"}}}})
	})
	mux.HandleFunc("POST /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Auth struct {
				Identity struct {
					Password struct {
						User struct{ Name, Password string }
					}
					Credential struct{ ID, Secret string } `json:"application_credential"`
				}
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			answer(w, http.StatusBadRequest, object{})
			return
		}
		user, credential := body.Auth.Identity.Password.User, body.Auth.Identity.Credential
		if (user.Name != "telemetry" || user.Password != secret) &&
			(credential.ID != "credential" || credential.Secret != secret) {
			answer(w, http.StatusUnauthorized, object{"error": object{"code": 401, "title": "Unauthorized"}})
			return
		}
		w.Header().Set("X-Subject-Token", token)
		answer(w, http.StatusCreated, describe())
	})
	mux.HandleFunc("GET /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subject-Token") != token || r.Header.Get("X-Auth-Token") != token {
			answer(w, http.StatusUnauthorized, object{})
			return
		}
		answer(w, http.StatusOK, describe())
	})
	mux.HandleFunc("GET /v3/projects", func(w http.ResponseWriter, r *http.Request) {
		projects := []object{}
		if r.URL.Query().Get("name") == "service" && r.Header.Get("X-Auth-Token") == token {
			projects = append(projects, object{"id": projectID, "name": "service", "domain_id": "default"})
		}
		answer(w, http.StatusOK, object{"projects": projects, "links": object{"next": nil}})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusNotFound, object{"error": object{"code": 404,
			"message": fmt.Sprintf("no %s", r.URL.Path)}})
	})
	k.Server = httptest.NewServer(mux)
	t.Cleanup(k.Close)
	return k
}
