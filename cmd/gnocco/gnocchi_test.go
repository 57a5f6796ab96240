package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// named returns a link to gnocco-migrate, beside which the program lies.
func named(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	fatal.If(t, os.Symlink(filepath.Join(filepath.Dir(program), "gnocco-migrate"), path))
	return path
}

// configuration writes a gnocchi.conf and returns its path.
func configuration(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gnocchi.conf")
	fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// eventually asks until the answer's body contains a text.
func eventually(t *testing.T, url, want string) {
	t.Helper()
	var last string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		fatal.If(t, err)
		request.SetBasicAuth("admin", "")
		response, err := http.DefaultClient.Do(request)
		fatal.If(t, err)
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		fatal.If(t, err)
		if last = fmt.Sprintf("%d %s", response.StatusCode, body); strings.Contains(last, want) {
			return
		}
	}
	t.Fatalf("GET %s: %s, and never %s", url, last, want)
}

// Gnocchi's programs, each under its name, share a gnocchi.conf: a message of statsd's becomes a measure.
func TestGnocchiPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := configuration(t, "[storage]\nfile_basepath = "+dir+
		"\n[api]\nhost = 127.0.0.1\nport = 0\n[indexer]\nurl = sqlite://\n"+
		"[statsd]\nhost = 127.0.0.1\nport = 0\nresource_id = 07f26121-5777-48ba-8a0b-d70468133dd9\nflush_delay = 0.1\ncreator = admin\n")
	upgrade := func(want string, args ...string) {
		t.Helper()
		out, err := exec.Command(named(t, "gnocchi-upgrade"),
			append([]string{"--config-file", conf}, args...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) ||
			!strings.Contains(string(out), `option="[indexer] url"`) {
			t.Fatalf("gnocchi-upgrade %q: %v, want %s\n%s", args, err, want, out)
		}
	}
	upgrade(`msg="data folder made" data=`+dir+"/gnocco sacks=3", "--sacks-number", "3", "--skip-index")
	upgrade(`msg="the data folder is there; nothing to do"`)
	upgrade(`msg="the number of sacks stays; gnocco sacks changes it"`, "--sacks-number", "4")

	api := serveBy(t, exec.Command(named(t, "gnocchi-api"), "--", "--config-file", conf, "--min-free-bytes", "1MiB"))
	serveBy(t, exec.Command(named(t, "gnocchi-metricd"), "--config-file", conf, "--listen", "127.0.0.1:0"))
	eventually(t, api.url+"/healthcheck", "200 ")
	eventually(t, api.url+"/v1/archive_policy_rule", `"archive_policy_name": "low"`)

	statsd := exec.Command(named(t, "gnocchi-statsd"), "--config-file", conf)
	address := startStatsd(t, statsd)
	conn, err := net.Dial("udp", address)
	fatal.If(t, err)
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("requests:42|g")); err != nil {
		t.Fatal(err)
	}
	eventually(t,
		api.url+"/v1/resource/generic/07f26121-5777-48ba-8a0b-d70468133dd9/metric/requests%7Cg/measures?refresh=true",
		"42.0]")
}

// startStatsd starts a program and returns where it listens for statsd's messages.
func startStatsd(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	fatal.If(t, err)
	fatal.If(t, cmd.Start())
	var log bytes.Buffer
	address := regexp.MustCompile(`msg="listening for statsd" address=(\S+)`)
	buffer := make([]byte, 4096)
	for {
		n, err := stderr.Read(buffer)
		log.Write(buffer[:n])
		if m := address.FindSubmatch(log.Bytes()); m != nil {
			t.Cleanup(func() {
				_ = cmd.Process.Signal(os.Interrupt)
				if err := cmd.Wait(); err != nil {
					t.Errorf("%s: %v", cmd.Path, err)
				}
			})
			return string(m[1])
		}
		if err != nil {
			_ = cmd.Wait()
			t.Fatalf("%s ended:\n%s", cmd.Path, log.Bytes())
		}
	}
}

// The files that kolla-ansible and openstack-helm render start a server, and keep every setting of security: a client
// without a token gets 401.
func TestRenderings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kolla.conf", "helm.conf"} {
		dir := t.TempDir()
		text, err := os.ReadFile(filepath.Join("../gnocco-migrate/internal/gnocchiconf/testdata", name))
		fatal.If(t, err)
		conf := configuration(t, strings.NewReplacer("@BASE@", dir, "@LOG@", dir, "@PORT@", "0").Replace(string(text)))
		if name == "helm.conf" {
			fatal.If(t, os.WriteFile(filepath.Join(filepath.Dir(conf), "policy.yaml"),
				[]byte(`"get status": "role:admin or role:reader"`), 0o600))
		}
		api := serveBy(t, exec.Command(named(t, "gnocchi-api"), "--config-file="+conf, "--log-file=",
			"--min-free-bytes=1MiB", "--init"))
		eventually(t, api.url+"/healthcheck", "200 ")
		eventually(t, api.url+"/v1/metric", "401 ")
		if !strings.Contains(api.logged(), `option="[keystone_authtoken] memcached_servers"`) {
			t.Errorf("%s: nothing is said of what is ignored:\n%s", name, api.logged())
		}
		// All in one process, by the file's ending; to the file that it names.
		if name == "kolla.conf" {
			_, stderr, status := run(t, "", "serve", "--config", conf, "--auth-mode", "nonsense")
			if status != 1 || !strings.Contains(stderr, `[api] auth_mode: "nonsense"`) {
				t.Errorf("status %d: %s", status, stderr)
			}
			log, err := exec.Command(named(t, "gnocchi-upgrade"), "--config-file", conf).CombinedOutput()
			if err != nil || len(log) > 0 {
				t.Errorf("gnocchi-upgrade: %v %s", err, log)
			}
			if content, err := os.ReadFile(filepath.Join(dir, "gnocchi.log")); err != nil ||
				!strings.Contains(string(content), "nothing to do") {
				t.Errorf("log file: %v\n%s", err, content)
			}
		}
	}
}
