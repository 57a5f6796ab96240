package check

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func installing(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../docs/how-to/install.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// makeCertificates runs the commands of docs/how-to/install.md for the Secret of peers in a new folder, for other names
// if there are any.
func makeCertificates(t *testing.T, names string) string {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is missing")
	}
	var commands []string
	for line := range strings.Lines(installing(t)) {
		if strings.HasPrefix(line, "openssl ") {
			commands = append(commands, line)
		}
	}
	script := strings.Join(commands, "")
	if len(commands) != 2 || strings.Count(script, "DNS:*.gnocco-peers.gnocco.svc") != 1 {
		t.Fatalf("docs/how-to/install.md: %s", script)
	}
	if names != "" {
		script = strings.Replace(script, "DNS:*.gnocco-peers.gnocco.svc", names, 1)
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// The commands of docs/how-to/install.md make a certificate for every pod of the cluster, for both directions, and for
// nobody else.
func TestDocumentedCertificate(t *testing.T) {
	dir := makeCertificates(t, "")
	content, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := authority(t, dir)
	for name, good := range map[string]bool{"gnocco-api-0.gnocco-peers.gnocco.svc": true,
		"gnocco-metricd-12.gnocco-peers.gnocco.svc": true, "gnocco.gnocco.svc": false,
		"gnocco-api-0.gnocco-peers.other.svc": false} {
		for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth} {
			_, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}})
			if (err == nil) != good {
				t.Errorf("%s, usage %d: %v", name, usage, err)
			}
		}
	}
	if leaf.IsCA {
		t.Error("peers could make peers")
	}
}

func authority(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(content) {
		t.Fatalf("no authority (%v)", err)
	}
	return pool
}

// An API and a metricd work together when they are started as the cluster's pods are, only addresses and paths
// replaced, and refuse who has no certificate of theirs.
func TestPeersOfCluster(t *testing.T) {
	// Addresses of this process alone: ports stay those of the manifest.
	host := func(n int) string {
		own := os.Getpid()<<2 | n
		return fmt.Sprintf("127.%d.%d.%d", 64|own>>16&63, own>>8&255, own&255)
	}
	certificates := makeCertificates(t, "IP:"+host(1)+",IP:"+host(2))
	data, users := filepath.Join(t.TempDir(), "data"), t.TempDir()
	line := "admin:$2a$04$glQ5QlPlgTrsINW0v3R1QOWYkqMg8OMqxRKsN/h8y1kcVfrtBcMWa\n" // secret
	if err := os.WriteFile(filepath.Join(users, "htpasswd"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	m := readFiles(t, "cluster/gnocco.yaml")
	for _, arg := range m.jobs[0].Spec.Template.Spec.Containers[0].Args[1:] {
		out, err := exec.Command(filepath.Join(binaries, "gnocco"), "init",
			strings.Replace(arg, "/var/lib/gnocco", data, 1)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for i, set := range m.sets {
		replace := strings.NewReplacer("=:", "="+host(i+1)+":", "$(POD_NAME).gnocco-peers.gnocco.svc", host(i+1), "$(POD_NAME)", set.Name,

			"/etc/gnocco-peers/", certificates+"/", "/etc/gnocco/", users+"/", "/var/lib/gnocco", data)
		var args []string
		for _, arg := range set.Spec.Template.Spec.Containers[0].Args {
			args = append(args, replace.Replace(arg))
		}
		start(t, args...)
	}
	plain := new(http.Client)
	for _, address := range []string{host(1) + ":8041", host(2) + ":9041"} {
		await(ctx, t, func() error {
			_, err := ask(ctx, plain, http.MethodGet, "http://"+address+"/ready", "")
			return err
		})
	}

	// The API has what was sent, metricd computes from it: each asks the other.
	api := "http://" + host(1) + ":8041/v1/"
	var metric struct{ ID string }
	await(ctx, t, func() error {
		created, err := ask(ctx, plain, http.MethodPost, api+"metric", `{"archive_policy_name":"low"}`)
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(created), &metric)
	})
	await(ctx, t, func() error {
		_, err := ask(ctx, plain, http.MethodPost, api+"metric/"+metric.ID+"/measures",
			`[{"timestamp":"2026-01-01T00:00:00","value":42}]`)
		return err
	})
	await(ctx, t, func() error {
		answer, err := ask(ctx, plain, http.MethodGet, api+"metric/"+metric.ID+
			"/measures?refresh=true&aggregation=mean", "")
		if err == nil && !strings.Contains(answer, "42") {
			return fmt.Errorf("measures are %s", answer)
		}
		return err
	})

	own, err := tls.LoadX509KeyPair(filepath.Join(certificates, "tls.crt"), filepath.Join(certificates, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	others := makeCertificates(t, "IP:"+host(1))
	other, err := tls.LoadX509KeyPair(filepath.Join(others, "tls.crt"), filepath.Join(others, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		scheme       string
		certificates []tls.Certificate
		want         string
	}{
		"no certificate":            {"https", nil, "certificate required"},
		"another authority's":       {"https", []tls.Certificate{other}, "certificate authority"},
		"no TLS":                    {"http", nil, "400 Bad Request"},
		"a certificate, but no key": {"https", []tls.Certificate{own}, "403 Forbidden"},
	} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority(t, certificates),
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				if len(c.certificates) == 0 {
					return new(tls.Certificate), nil
				}
				return &c.certificates[0], nil // although the server names other authorities
			}}}
		for _, h := range []string{host(1), host(2)} {
			_, err := ask(ctx, &http.Client{Transport: transport}, http.MethodPost,
				c.scheme+"://"+h+":8042/peer/status", "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
		transport.CloseIdleConnections()
	}
}

// start starts gnocco, until the test's end.
func start(t *testing.T, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(binaries, "gnocco"), args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		log.Close()
		if content, err := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%q (%v):\n%s", args, err, content)
		}
	})
}

// await asks again until there is no error.
func await(ctx context.Context, t *testing.T, ask func() error) {
	t.Helper()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ask sends a request as admin. Statuses that are no success are errors.
func ask(ctx context.Context, client *http.Client, method, url, body string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.SetBasicAuth("admin", "secret")
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s", url, response.Status, text)
	}
	return string(text), err
}
