package openstack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// python is Debian's, which its packages are for.
const python = "/usr/bin/python3"

// installed skips the test unless Debian's Python has these modules.
func installed(t *testing.T, modules ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	for _, module := range modules {
		find := "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
		if exec.Command(python, "-c", find, module).Run() != nil {
			t.Skip("python3-" + module + " is not installed")
		}
	}
}

// A site is a server, and how OpenStack's services log in.
type site struct {
	*server.Server
	session string // settings of keystoneauth, as of [service_credentials]
	user    string // of basic authentication, which Prometheus' clients use
	secret  string
}

// Sessions are how services log in.
var sessions = []string{"basic", "noauth", "keystone"}

// newSite starts a server for sessions of one kind.
func newSite(t *testing.T, kind string) *site {
	t.Helper()
	return newNamedSite(t, kind, api.GnocchiNames)
}

// newNamedSite is newSite for a server with names of a kind in PromQL.
func newNamedSite(t *testing.T, kind, names string) *site {
	t.Helper()
	s := &site{user: "admin", secret: "unused"}
	options := server.Options{Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data"), MinFreeBytes: 1 << 20,
		Lease: cluster.Lease{TTL: time.Minute}}, Listen: "127.0.0.1:0"}
	options.API.PromQLNames = names
	var k *keystone
	switch kind {
	case "noauth":
		options.Auth = auth.Options{Mode: "keystone"} // headers are believed, as if a proxy had set them
	case "keystone":
		k = newKeystone(t)
		options.Auth = auth.Options{Mode: "keystone", KeystoneURL: k.URL}
		s.user, s.secret = "credential", secret
	}
	var err error
	s.Server, err = server.Start(t.Context(), options)
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, s.Close(context.WithoutCancel(t.Context()))) })
	switch kind {
	case "basic":
		s.session = fmt.Sprintf("auth_type = gnocchi-basic\nuser = admin\nendpoint = %s\n", s.URL())
	case "noauth":
		s.session = fmt.Sprintf(
			"auth_type = gnocchi-noauth\nuser_id = %s\nproject_id = %s\nroles = admin\nendpoint = %s\n",
			userID, projectID, s.URL())
	case "keystone":
		k.metricURL = s.URL()
		s.session = fmt.Sprintf(
			"auth_type = password\nauth_url = %s/v3\nusername = telemetry\npassword = %s\nproject_name = service\n"+
				"user_domain_name = Default\nproject_domain_name = Default\nregion_name = RegionOne\n", k.URL, secret)
	}
	return s
}

// config writes a file of settings for services.
func config(t *testing.T, settings ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "service.conf")
	fatal.If(t,
		os.WriteFile(path, []byte("[DEFAULT]\ndefault_log_levels = ceilometer=WARNING\n"+strings.Join(settings, "")),
			0o600))
	return path
}

// run runs a script of testdata and decodes the last line that it prints, behind what it logs.
func run(t *testing.T, answer any, script string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, append([]string{"-W", "ignore", filepath.Join("testdata", script)},
		args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	// These libraries log what fails, and go on.
	if err != nil || strings.Contains(string(out), " ERROR ") ||
		json.Unmarshal([]byte(lines[len(lines)-1]), answer) != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}
