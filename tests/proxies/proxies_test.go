package proxies_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testcert"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// TestProxies runs the configurations of deploy/ before two processes of the API.
func TestProxies(t *testing.T) {
	t.Run("haproxy", func(t *testing.T) {
		program := installed(t, "haproxy")
		proxied(t, "haproxy/haproxy.cfg", func(dir, config string) *exec.Cmd {
			return exec.Command(program, "-db", "-f", config)
		}, func(p proxy) []string {
			return []string{":443", p.address, "/etc/haproxy/gnocco.pem", p.cert}
		})
	})
	t.Run("nginx", func(t *testing.T) {
		program := installed(t, "nginx")
		proxied(t, "nginx/gnocco.conf", func(dir, config string) *exec.Cmd {
			around := fmt.Sprintf("daemon off; master_process off; pid %[1]s/pid; error_log stderr; events {}\n"+
				"http { access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; "+
				"uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi; include %[2]s; }\n", dir, config)
			write(t, filepath.Join(dir, "nginx.conf"), around)
			return exec.Command(program, "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"))
		}, func(p proxy) []string {
			return []string{"listen 443", "listen " + p.address, "/etc/nginx/gnocco.pem", p.cert,
				"/etc/nginx/gnocco.key", p.cert}
		})
	})
}

// proxy is what stands for the names of a configuration.
type proxy struct {
	address string
	cert    string // with its key
}

// installed returns the path of a program, or skips the test.
func installed(t *testing.T, name string) string {
	t.Helper()
	for _, folder := range []string{"", "/usr/sbin/"} { // where Debian has daemons
		if program, err := exec.LookPath(folder + name); err == nil {
			return program
		}
	}
	t.Skip(name + " is not installed")
	return ""
}

// proxied starts two servers and a proxy before them, and asks it.
func proxied(t *testing.T, example string, command func(dir, config string) *exec.Cmd,
	replacements func(proxy) []string) {
	dir := t.TempDir()
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	fatal.If(t, err)
	write(t, filepath.Join(dir, "users"), "admin:"+string(hash)+"\n")
	var servers []*server.Server
	for range 2 {
		s, err := server.Start(t.Context(), server.Options{
			Cluster: cluster.Options{Data: filepath.Join(dir, "data"), Sacks: 2, MinFreeBytes: 1 << 20,
				Lease: cluster.Lease{TTL: time.Minute}},
			Listen: "127.0.0.1:0",
			API:    api.Settings{ProxyHeaders: true},
			Auth:   auth.Options{Mode: "htpasswd", HtpasswdFile: filepath.Join(dir, "users")},
		})
		fatal.If(t, err)
		t.Cleanup(func() { fatal.If(t, s.Close(context.WithoutCancel(t.Context()))) })
		servers = append(servers, s)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	p := proxy{free.Addr().String(), filepath.Join(dir, "gnocco.pem")}
	fatal.If(t, free.Close())
	roots := certificate(t, p.cert)
	text, err := os.ReadFile("../../deploy/" + example)
	fatal.If(t, err)
	pairs := append(replacements(p), "10.0.0.5:8041", host(servers[0]), "10.0.0.6:8041", host(servers[1]))
	config := filepath.Join(dir, filepath.Base(example))
	replaced := string(text)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(replaced, pairs[i]) {
			t.Fatalf("%s has no %s", example, pairs[i])
		}
		replaced = strings.ReplaceAll(replaced, pairs[i], pairs[i+1])
	}
	write(t, config, replaced)
	cmd := command(dir, config)
	log, err := os.Create(filepath.Join(dir, "log"))
	fatal.If(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	fatal.If(t, testprogram.EndWithTest(cmd).Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s", text)
		}
	}()
	c := asker{t: t, url: "https://" + p.address, client: &http.Client{Timeout: 2 * time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if answer, err := c.client.Get(c.url + "/"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the proxy does not answer")
		}
	}
	c.behaves()
}

// asker sends requests to a proxy.
type asker struct {
	t      *testing.T
	url    string
	client *http.Client
}

func (c *asker) ask(status int, method, path, password, body string, headers ...string) (*http.Response, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	fatal.If(c.t, err)
	r.SetBasicAuth("admin", password)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.client.Do(r)
	fatal.If(c.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fatal.If(c.t, err)
	if status != 0 && answer.StatusCode != status {
		c.t.Errorf("%s %s: %s, want %d: %.200s", method, path, answer.Status, status, text)
	}
	return answer, string(text)
}

// behaves checks what a client sees, both processes' answers among it.
func (c *asker) behaves() {
	c.t.Helper()
	if answer, _ := c.ask(200, "GET", "/v1/capabilities", "secret", ""); answer.ProtoMajor != 2 ||
		answer.TLS.Version < tls.VersionTLS12 {
		c.t.Errorf("%s, TLS %x", answer.Proto, answer.TLS.Version)
	}
	c.ask(201, "POST", "/v1/archive_policy", "secret", `{"name":"p","definition":[{"granularity":1}]}`)
	var id string
	for range 6 { // of any process, forged or not
		answer, text := c.ask(201, "POST", "/v1/metric", "secret", `{"archive_policy_name":"p"}`, "X-Forwarded-Host",
			"evil.example", "Forwarded", "host=evil.example")
		if location := answer.Header.Get("Location"); !strings.HasPrefix(location, c.url+"/v1/metric/") {
			c.t.Errorf("Location %s, want below %s", location, c.url)
		}
		var metric struct{ ID string }
		fatal.If(c.t, json.Unmarshal([]byte(text), &metric))
		id = metric.ID
	}
	c.ask(201, "POST", "/v1/resource/generic", "secret", `{"id":"a%2Fb"}`)
	c.ask(200, "GET", "/v1/resource/generic/a%252Fb", "secret", "")
	var measures strings.Builder
	for i := range 80_000 { // more than proxies allow or keep in memory by themselves
		fmt.Fprintf(&measures, `,{"timestamp":%d,"value":%d}`, i, i)
	}
	c.ask(202, "POST", "/v1/metric/"+id+"/measures", "secret", "["+measures.String()[1:]+"]")
	if _, text := c.ask(200, "GET", "/v1/metric/"+id+"/measures?aggregation=max&refresh=true", "secret",
		""); strings.Count(text, "+00:00") != 80_000 {
		c.t.Errorf("%d bytes of measures", len(text))
	}
	c.ask(403, "GET", "/metrics", "secret", "")
	c.ask(403, "GET", "/debug/pprof/", "secret", "")
	slowed := false
	for i := range 50 { // an address that the client names is not believed
		answer, _ := c.ask(0, "GET", "/v1/metric", "guess", "", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
		slowed = slowed || answer.StatusCode == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != ""
	}
	if !slowed {
		c.t.Error("50 wrong passwords of an address, and none was slowed")
	}
	c.ask(200, "GET", "/v1/metric", "secret", "")
}

func host(s *server.Server) string { return strings.TrimPrefix(s.URL(), "http://") }

// certificate writes a self-signed certificate and its key to one file, and returns whom to trust.
func certificate(t *testing.T, path string) *x509.CertPool {
	t.Helper()
	certFile, keyFile := testcert.SelfSigned(t)
	public, err := os.ReadFile(certFile)
	fatal.If(t, err)
	private, err := os.ReadFile(keyFile)
	fatal.If(t, err)
	write(t, path, string(public)+string(private))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	return pool
}

func write(t *testing.T, path, text string) {
	t.Helper()
	fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
}
