package server_test

import (
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Every process names itself once in an answer, also in one that another process has given.
func TestAnswersNameTheServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	get := func(s *server.Server, path string) string {
		t.Helper()
		response, err := http.Get(s.URL() + path)
		fatal.If(t, err)
		defer response.Body.Close()
		if names := response.Header.Values("Server"); !slices.Equal(names, []string{"gnocco/" + version.Number}) {
			t.Errorf("%s: Server is %q", path, names)
		}
		body, err := io.ReadAll(response.Body)
		fatal.If(t, err)
		return string(body)
	}
	for _, role := range []cluster.Role{cluster.RoleBoth, cluster.RoleAPI, cluster.RoleMetricd} {
		s := start(t, server.Options{Cluster: cluster.Options{Data: data, Role: role, Sacks: 2}})
		defer stop(t, s)
		get(s, "/healthcheck")
		if role != cluster.RoleMetricd {
			get(s, "/v1/capabilities")
		}
		if figures := get(s, "/metrics"); !strings.Contains(figures, `version="`+version.Number+`"} 1`) {
			t.Errorf("role %q: no gnocco_build_info in\n%s", role, figures)
		}
	}
}
