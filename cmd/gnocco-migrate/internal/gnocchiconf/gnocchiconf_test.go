package gnocchiconf_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-migrate/internal/gnocchiconf"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var rewrite = flag.Bool("rewrite", false, "write the table into docs/reference/gnocchi-conf.md")

// read reads a configuration from its text.
func read(t *testing.T, folder, text string) *gnocchiconf.File {
	t.Helper()
	path := filepath.Join(folder, "gnocchi.conf")
	fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
	file, err := gnocchiconf.Read([]string{path}, nil)
	fatal.If(t, err)
	return file
}

func settings(t *testing.T, folder, text string, given ...string) (*gnocchiconf.Settings, error) {
	t.Helper()
	return read(t, folder, text).Settings("gnocchi-api", func(name string) (string, bool) {
		for _, g := range given {
			if setting, value, _ := strings.Cut(g, "="); setting == name {
				return value, true
			}
		}
		return "", false
	})
}

// The syntax of oslo.config, and values that name others.
func TestSyntax(t *testing.T) {
	f := func(want, setting, text string) {
		t.Helper()
		got, err := settings(t, t.TempDir(), text)
		if err != nil || fmt.Sprint(got.Values[setting]) != want {
			t.Errorf("%s of %q: got %v, %v, want %s", setting, text, got, err, want)
		}
	}
	f("/var/lib/gnocchi/gnocco", "data", "")
	f("0.0.0.0:8041", "listen", "")
	f("<nil>", "metric-inactive-after", "")
	f("86400s", "metric-inactive-after", "[metricd]\nmetric_inactive_after = 86400\n")
	f("60s", "resource-cleanup-after", "[metricd]\nresource_cleanup_after = 60\n")
	f("basic", "auth-mode", "")
	f("7", "max-limit", "[api]\n# max_limit = 6\nmax_limit: 7\n")
	f("7", "max-limit", "[api]\nmax-limit=5\n[api]\nmax_limit = 7\n")
	f("/a b/gnocco", "data", "[storage]\nfile_basepath = \"/a b\"\n")
	f("/srv/x/gnocco", "data", "[DEFAULT]\nroot = /srv\n[storage]\nname=x\nfile_basepath = $root/${name}\n")
	f("/srv/a$b/gnocco", "data", "[DEFAULT]\nroot = /srv\n[storage]\nfile_basepath = ${default.root}/a$$b\n")
	f("http://a,http://b,http://c", "cors-allowed-origin",
		"[cors]\nallowed_origin = http://a,http://b\nallowed_origin = http://c\n")
	f("http://a,http://b", "cors-allowed-origin", "[cors]\nallowed_origin = http://a,\n  http://b\n")
	f("/l/gnocchi-api.log", "log-file", "[DEFAULT]\nlog_dir = /l\n")
	f("/x.log", "log-file", "[DEFAULT]\nlog_dir = /l\nlog_file = /x.log\n")
	f("debug", "log-level", "[DEFAULT]\ndebug = True\n")
	f("warn", "log-level", "[DEFAULT]\nverbose = no\n")
	f("$a/gnocco", "data", "[storage]\nfile_basepath = $b\nb = $c\nc = $$a\n")

	for text, want := range map[string]string{
		"max_limit = 1\n": "line 1", "[api\n": "line 1", "[api]\nmax_limit\n": "line 2", "[api]\n  x = 1\n": "line 2",
	} {
		path := filepath.Join(t.TempDir(), "x.conf")
		fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := gnocchiconf.Read([]string{path}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// Files that come later, and those of folders, go before earlier ones.
func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.conf": "[api]\nmax_limit=1\nport=1\n",
		"b.conf": "[api]\nmax_limit=2\n", "d/z.conf": "[api]\nport=3\n", "d/x": "["} {
		path := filepath.Join(dir, name)
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o750))
		fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
	}
	file, err := gnocchiconf.Read([]string{filepath.Join(dir, "a.conf"), filepath.Join(dir, "b.conf")},
		[]string{filepath.Join(dir, "d")})
	fatal.If(t, err)
	got, err := file.Settings("gnocchi-api", func(string) (string, bool) { return "", false })
	if err != nil || got.Values["max-limit"] != "2" || got.Values["listen"] != "0.0.0.0:3" {
		t.Errorf("got %v, %v", got, err)
	}
}

// Options that would silently change access rights are refused.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	fatal.If(t, os.WriteFile(filepath.Join(dir, "paste.ini"),
		[]byte("[pipeline:gnocchiv1+keystone]\npipeline = my_filter keystone_authtoken gnocchiv1\n"),
		0o600))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "good.ini"),
		[]byte("[pipeline:gnocchiv1+keystone]\npipeline = keystone_authtoken gnocchiv1\n"), 0o600))
	f := func(want, text string, given ...string) {
		t.Helper()
		got, err := settings(t, dir, text, given...)
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %q", text, got, err, want)
		}
	}
	const keystone = "[api]\nauth_mode = keystone\n[keystone_authtoken]\nauth_url = http://k:5000\n"
	f("", keystone)
	f("[api] auth_mode: \"saml\"", "[api]\nauth_mode = saml\n")
	f("[keystone_authtoken] auth_url: is missing", "[api]\nauth_mode = keystone\n")
	f("", "[api]\nauth_mode = keystone\n", "keystone-url=http://k:5000")
	f("", "[api]\nauth_mode = keystone\n", "auth-mode=htpasswd")
	f("[keystone_authtoken] auth_url: is missing", "[api]\nauth_mode = basic\n", "auth-mode=keystone")
	f("[api] auth_mode: remoteuser", "[api]\nauth_mode = remoteuser\n")
	f("", "[api]\nauth_mode = remoteuser\n", "remote-user-header=X-User")
	f("[keystone_authtoken] insecure", keystone+"insecure = true\n")
	f("", keystone+"insecure = false\n")
	f("[keystone_authtoken] insecure: \"maybe\"", keystone+"insecure = maybe\n")
	f("[keystone_authtoken] certfile", keystone+"certfile = /c.pem\n")
	f("[keystone_authtoken] auth_type: \"v2password\"", keystone+"auth_type = v2password\n")
	f("[keystone_authtoken] user_id", keystone+"user_id = 1\n")
	f("[oslo_policy] policy_file: there is no rules.yaml", "[oslo_policy]\npolicy_file = rules.yaml\n")
	f("filter my_filter", "[api]\npaste_config = paste.ini\n")
	f("", "[api]\npaste_config = good.ini\n")
	f("[api] paste_config: /nowhere.ini cannot be read", "[api]\npaste_config = /nowhere.ini\n")
	f("", "[api]\npaste_config = api-paste.ini\n")
	fatal.If(t, os.Mkdir(filepath.Join(dir, "policy.d"), 0o750))
	f("", "")
	fatal.If(t, os.WriteFile(filepath.Join(dir, "policy.d", "x.yaml"), nil, 0o600))
	f("[oslo_policy] policy_dirs", "")
}

// Settings of [statsd] warn, and stop nothing: the socket lies in the data folder that the server has.
func TestStatsdStopsNoStart(t *testing.T) {
	f := func(listen, warning, section string, given ...string) {
		t.Helper()
		got, err := settings(t, t.TempDir(), "[storage]\nfile_basepath = /base\n[statsd]\n"+section, given...)
		if err != nil || fmt.Sprint(got.Values["statsd-listen"]) != listen {
			t.Fatalf("%q: %v, %v", section, got, err)
		}
		if all := fmt.Sprint(got.Warnings); !strings.Contains(all, warning) || warning == "" && all != "[]" {
			t.Errorf("%q: warnings %s, want %q", section, all, warning)
		}
	}
	f("unix:/base/gnocco/statsd.sock", "", "resource_id = a\n")
	f("unix:/here/statsd.sock", "", "resource_id = a\n", "data=/here")
	f("<nil>", "longer than 107 bytes", "resource_id = a\n", "data=/"+strings.Repeat("long/", 25))
	f("<nil>", "'/' is not supported", "resource_id = a/b\n")
	f("unix:/base/gnocco/statsd.sock", "flush_delay", "resource_id = a\nflush_delay = often\n")
	f("unix:/base/gnocco/statsd.sock", "flush_delay", "resource_id = a\nflush_delay = 0\n")
	f("unix:/base/gnocco/statsd.sock", "flush_delay", "resource_id = a\nflush_delay = -5\n")
	f("unix:/base/gnocco/statsd.sock", "archive_policy_name", "resource_id = a\narchive_policy_name = low\n", "statsd-labels=true")
	f("<nil>", "", "creator = a\n")
}

// rendering returns what a deployment renders.
func rendering(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	fatal.If(t, err)
	return strings.NewReplacer("@BASE@", "/base", "@LOG@", "/log", "@PORT@", "8041").Replace(string(text))
}

func TestKolla(t *testing.T) {
	got, err := settings(t, t.TempDir(), rendering(t, "kolla.conf"))
	fatal.If(t, err)
	want := map[string]any{
		"data": "/base/gnocco", "listen": "127.0.0.1:8041", "max-limit": "1000", "proxy-headers": true,
		"auth-mode": "keystone",
		"log-file":  "/log/gnocchi.log", "keystone-url": "http://127.0.0.1:5000", "keystone-user": "gnocchi",
		"keystone-secret":  "pa$word",
		"keystone-project": "service", "keystone-user-domain-id": "default", "keystone-project-domain-id": "default",
		"statsd-listen": "unix:/base/gnocco/statsd.sock", "statsd-resource-id": "07f26121-5777-48ba-8a0b-d70468133dd9",
		"statsd-creator":        "4e7e8ed9a4f44b6e9b6f7d7f3d0c0b8f:99c7c3b9a5b94d8bb6f2a8a5a3c0f0a1",
		"statsd-archive-policy": "low", "statsd-flush-interval": "10s", "workers": "2",
	}
	for name := range want {
		if got.Values[name] != want[name] {
			t.Errorf("%s is %v, not %v", name, got.Values[name], want[name])
		}
	}
	if len(got.Values) != len(want) {
		t.Errorf("got %v", got.Values)
	}
	var ignored []string
	for _, w := range got.Warnings {
		ignored = append(ignored, w.Option)
	}
	const all = "[default] coordination_url, [metricd] metric_processing_delay, [indexer] url, [keystone_authtoken] www_authenticate_uri, " +
		"[keystone_authtoken] region_name, [keystone_authtoken] memcache_security_strategy, [keystone_authtoken] memcache_secret_key, " +
		"[keystone_authtoken] memcached_servers"
	if strings.Join(ignored, ", ") != all {
		t.Errorf("ignored are %s", strings.Join(ignored, ", "))
	}
}

func TestHelm(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "policy.yaml")
	fatal.If(t, os.WriteFile(rules, []byte("{}\n"), 0o600))
	got, err := settings(t, dir, rendering(t, "helm.conf"))
	fatal.If(t, err)
	for name, want := range map[string]any{"data": "/base/helm/gnocco", "policy-file": rules,
		"statsd-flush-interval": "10.5s", "keystone-user-domain": "service", "keystone-project-domain": "service",
		"keystone-url": "http://127.0.0.1:5000/v3"} {
		if got.Values[name] != want {
			t.Errorf("%s is %v, not %v", name, got.Values[name], want)
		}
	}
	text := fmt.Sprint(got.Warnings)
	for _, option := range []string{"[storage] driver", "[storage] ceph_pool",
		"[archive_policy] default_aggregation_methods", "[default] log_config_append"} {
		if !strings.Contains(text, option) {
			t.Errorf("no warning of %s: %s", option, text)
		}
	}
	if strings.Contains(text, "database") || strings.Contains(text, "provided_keyring") {
		t.Errorf("warned of options without a value: %s", text)
	}
}

// The page shows the table of the code.
func TestPage(t *testing.T) {
	const path = "../../../../docs/reference/gnocchi-conf.md"
	content, err := os.ReadFile(path)
	fatal.If(t, err)
	const begin, end = "<!-- table -->\n", "<!-- end of table -->\n"
	before, rest, ok := strings.Cut(string(content), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no %q and %q", path, begin, end)
	}
	if table == gnocchiconf.Table() {
		return
	}
	if !*rewrite {
		t.Fatalf("%s is out of date: go test ./cmd/gnocco-migrate/internal/gnocchiconf -rewrite", path)
	}
	fatal.If(t, os.WriteFile(path, []byte(before+begin+gnocchiconf.Table()+end+after), 0o600))
}

func FuzzRead(f *testing.F) {
	f.Add("[api]\nmax_limit = $port\nport=${api.max_limit}\n")
	f.Add("[a]\nb = c\n d\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x.conf")
		fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
		file, err := gnocchiconf.Read([]string{path}, nil)
		if err == nil {
			_, _ = file.Settings("gnocchi-api", func(string) (string, bool) { return "", false })
		}
	})
}
