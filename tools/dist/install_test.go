package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// suite is the release of Debian that the packages are tried in. guestPackages are there before them: dependencies,
// curl, readers of manual pages and completions. apt brings nothing more, as the guest has no network.
const suite, guestPackages = "bookworm", "adduser,bash-completion,curl,init-system-helpers,man-db,systemd,systemd-sysv"

// The packages, the archive and the image do what README.md and docs/how-to/install.md say, in a Debian of its own: an
// earlier version is installed, serves, is upgraded while it serves, removed and purged.
func TestInstalled(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("a chroot needs root")
	}
	for _, program := range []string{"mmdebstrap", "dpkg-deb", "tar", "chroot"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program, " is missing")
		}
	}
	base := bookworm(t)
	s, err := open("../..")
	if err != nil {
		t.Fatal(err)
	}
	arch, work := runtime.GOARCH, t.TempDir()
	built, err := s.programs(work, arch)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.shared(built)
	if err != nil {
		t.Fatal(err)
	}
	earlier := *s
	earlier.version = "0.0.9"
	for _, s := range []*source{&earlier, s} {
		out := filepath.Join(work, s.version)
		if err := errors.Join(os.Mkdir(out, 0o755), s.packages(out, arch, built, files),
			s.debianAsGnocchi(out, files.common)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("lintian", func(t *testing.T) {
		if _, err := exec.LookPath("lintian"); err != nil {
			t.Skip("lintian is missing")
		}
		debs, err := filepath.Glob(filepath.Join(work, s.version, "*.deb"))
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("lintian", append([]string{"--allow-root", "--fail-on", "error,warning"},
			debs...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("packages", func(t *testing.T) { tryPackages(t, base, work, s.version) })
	t.Run("archive", func(t *testing.T) {
		content, err := os.ReadFile(built.static)
		if err != nil {
			t.Fatal(err)
		}
		archive := filepath.Join(work, "archive.tar.gz")
		if err := writeArchive(archive, s.at, archiveFiles("gnocco", content, files.common)); err != nil {
			t.Fatal(err)
		}
		g := unpackGuest(t, base)
		g.must(t, "install -d /usr/local/gnocco")
		command(t, "tar", "-C", filepath.Join(g.root, "usr/local"), "--strip-components=1", "--no-same-owner", "-xf",
			archive)
		requireFirstQuery(t, g.serve(t, "0:0", "/usr/local/bin/gnocco"))
		g.must(t, "man -w gnocco-serve && readlink /usr/local/bin/metricd && ls /usr/local/share/doc/gnocco/how-to/restart.md")
	})
	t.Run("image", func(t *testing.T) {
		content, err := os.ReadFile(built.static)
		if err != nil {
			t.Fatal(err)
		}
		dir, root := t.TempDir(), t.TempDir()
		if err := writeImage(dir, s.version, s.at,
			map[string][]file{arch: imageFiles(content, files.common)}); err != nil {
			t.Fatal(err)
		}
		index, err := layout.ImageIndexFromPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		image, err := index.Image(manifest.Manifests[0].Digest)
		if err != nil {
			t.Fatal(err)
		}
		layers, err := image.Layers()
		if err != nil {
			t.Fatal(err)
		}
		layer, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("tar", "-C", root, "-xf", "-")
		cmd.Stdin = layer
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		g := &guest{root: root}
		requireFirstQuery(t, g.serve(t, config.Config.User, config.Config.Entrypoint[0]))
	})
}

// tryPackages installs, serves, upgrades, removes and purges.
func tryPackages(t *testing.T, base, work, version string) {
	g := unpackGuest(t, base)
	command(t, "cp", "-r", filepath.Join(work, "0.0.9"), filepath.Join(work, version), filepath.Join(g.root, "root"))
	g.boot(t)
	if !t.Run("install", func(t *testing.T) {
		g.must(t, "cd /root/0.0.9 && apt-get install -qqy ./gnocco_*.deb ./gnocco-client_*.deb")
		g.must(t, `[ -z "$(dpkg -V gnocco)" ] && [ "$(id -u gnocco)" = 8041 ]`)
		g.must(t, `for page in gnocco gnocco-serve gnocco-import-csv gnocco-keystone metricd; do man -w $page; done
			man gnocco-serve | grep -q -- --listen
			[ -z "$(zcat /usr/share/man/man1/gnocco*.gz | man -l --warnings - 2>&1 >/dev/null)" ]`)
		g.must(t, `. /usr/share/bash-completion/bash_completion; _completion_loader gnocco || true; complete -p gnocco
			head -n 1 /usr/share/zsh/vendor-completions/_gnocco | grep -q '#compdef gnocco'
			grep -q 'complete -c gnocco' /usr/share/fish/vendor_completions.d/gnocco.fish`)
		g.must(t, "gnocco licenses | grep -q 'github.com/cockroachdb/pebble/v2 v'")
		g.must(t, "echo '# mine' >>/etc/default/gnocco")
	}) {
		return
	}
	if g.init == 0 {
		requireFirstQuery(t, g.serve(t, "8041:8041", "/usr/bin/gnocco"))
	}
	const ask = "curl -s -u admin: 'http://127.0.0.1:8041/v1/resource/generic/kitchen/metric/temperature/measures?refresh=true'"
	var before string
	t.Run("unit", func(t *testing.T) {
		g.needBoot(t)
		out := g.must(t, "systemctl is-active gnocco || systemctl is-enabled gnocco || true")
		if strings.HasPrefix(out, "active") || strings.Contains(out, "enabled") {
			t.Errorf("an installation starts the service: %s", out)
		}
		block, printed := installOfREADME(t)
		if out := g.must(t, "cd /root/0.0.9\n"+block); !strings.HasSuffix(strings.TrimSpace(out), "\n"+printed) {
			t.Errorf("%s prints\n%s\nREADME.md says\n%s", block, out, printed)
		}
		at := time.Now().UTC().Truncate(time.Hour).Format("2006-01-02T15:04:05")
		g.must(t, `json='Content-Type: application/json'
			curl -sS -f -u admin: -H "$json" http://127.0.0.1:8041/v1/resource/generic -d '{"id": "kitchen", "metrics": {"temperature": {"archive_policy_name": "low"}}}'
			curl -sS -f -u admin: -H "$json" http://127.0.0.1:8041/v1/batch/resources/metrics/measures -d '{"kitchen": {"temperature": [{"timestamp": "`+at+`", "value": 21.5}]}}'`)
		if before = g.must(t, ask); !strings.Contains(before, ", 300.0, 21.5]]") {
			t.Errorf("the installed server answers %s", before)
		}
	})
	t.Run("upgrade", func(t *testing.T) {
		const state = "systemctl show --value -p MainPID -p ActiveState -p UnitFileState gnocco"
		was := ""
		if g.init != 0 {
			was = g.must(t, state)
		}
		g.must(t, "cd /root/"+version+" && apt-get install -qqy ./gnocco_*.deb ./gnocco-client_*.deb ./gnocco-backup_*.deb")
		g.must(t, `[ "$(dpkg-query -Wf '${Version} ${Version}' gnocco gnocco-backup)" = "`+
			strings.Repeat(version+" ", 3)+version+`" ] && grep -q '# mine' /etc/default/gnocco
			man -w 8 gnocco-backup && gnocco-backup --help >/dev/null`)
		g.needBoot(t)
		now := g.must(t, state)
		if now == was || !strings.Contains(now, "\nactive\nenabled") {
			t.Errorf("before the upgrade:\n%s\nafter:\n%s", was, now)
		}
		g.must(t, "curl -sS --retry 60 --retry-connrefused --retry-delay 1 -o /dev/null http://127.0.0.1:8041/ready")
		if after := g.must(t, ask); after != before {
			t.Errorf("the upgraded server answers %s, before %s", after, before)
		}
	})
	t.Run("Gnocchi's names", func(t *testing.T) {
		g.must(t, "cd /root/"+version+" && apt-get install -qqy ./gnocco-as-gnocchi_*.deb && gnocchi-upgrade && gnocchi-upgrade 2>&1 | grep 'nothing to do'")
		g.must(t, "apt-get purge -qqy gnocco-as-gnocchi && ! command -v gnocchi-api")
	})
	t.Run("remove", func(t *testing.T) {
		g.must(t, "apt-get remove -qqy gnocco gnocco-client gnocco-backup && ! command -v gnocco && [ -f /etc/default/gnocco ]")
		if g.init != 0 {
			g.must(t, "! systemctl is-active gnocco && [ -f /var/lib/gnocco/cluster.json ]")
		}
		g.must(t, "dpkg --purge gnocco && getent passwd gnocco")
		left := g.must(t, "find / -xdev -name '*gnoc*' | grep -vE '^/(root|proc|data|var/(lib|log|cache/man))/' || true")
		if left != "" {
			t.Errorf("a purge leaves\n%s", left)
		}
	})
}

// installOfREADME returns the commands of README.md that install the package and show that it runs, and what the last
// one prints.
func installOfREADME(t *testing.T) (block, printed string) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```sh\n(apt install[^`]*)```\n[^`]*```text\n([^`]*)```").FindSubmatch(text)
	if found == nil {
		t.Fatal("README.md does not say how to know that the package runs")
	}
	return strings.ReplaceAll(string(found[1]), "amd64", runtime.GOARCH), strings.TrimSpace(string(found[2]))
}

// bookworm returns an archive of a small Debian, which is made once a month.
func bookworm(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	base := filepath.Join(cache, "gnocco-test", suite+"-"+strings.ReplaceAll(guestPackages, ",", "-")+".tar")
	if info, err := os.Stat(base); err == nil && time.Since(info.ModTime()) < 30*24*time.Hour {
		return base
	}
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		t.Fatal(err)
	}
	made := base + ".new.tar"
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // it downloads 70 MB
	defer cancel()
	out, err := exec.CommandContext(ctx, "mmdebstrap", "--quiet", "--variant=apt", "--include="+guestPackages, suite,
		made).CombinedOutput()
	if err != nil {
		t.Skipf("mmdebstrap makes no Debian: %v\n%s", err, out)
	}
	if err := os.Rename(made, base); err != nil {
		t.Fatal(err)
	}
	return base
}

// guest is a system in a folder. init is the process ID of its systemd, 0 if it is not booted.
type guest struct {
	root string
	init int
	why  string // it is not booted
}

func unpackGuest(t *testing.T, base string) *guest {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	command(t, "tar", "-C", root, "-xf", base)
	return &guest{root: root, why: "it was not tried"}
}

func command(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}

// boot starts the guest's systemd by systemd-nspawn, with a network of its own, where that can be had.
func (g *guest) boot(t *testing.T) {
	program, err := exec.LookPath("systemd-nspawn")
	if err != nil {
		g.why = "systemd-nspawn is missing"
		return
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "boot"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-q", "-D", g.root, "--private-network", "--register=no", "--keep-unit",
		"--console=pipe", "--boot")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		log.Close()
	})
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); time.Sleep(200 * time.Millisecond) {
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			g.why = "systemd-nspawn does not boot here: " + string(text)
			return
		default:
		}
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		if err != nil {
			continue
		}
		if g.init, err = strconv.Atoi(strings.TrimSpace(string(children))); err != nil {
			continue
		}
		if out, _ := g.sh("systemctl is-system-running --wait"); strings.Contains(out, "running") ||
			strings.Contains(out, "degraded") {
			return
		}
	}
	g.init, g.why = 0, "the guest's systemd is not up after two minutes"
}

func (g *guest) needBoot(t *testing.T) {
	t.Helper()
	if g.init == 0 {
		t.Skip(g.why)
	}
}

// sh runs commands in the guest.
func (g *guest) sh(script string) (string, error) {
	args := []string{"chroot", g.root}
	if g.init != 0 {
		args = []string{"nsenter", "-t", strconv.Itoa(g.init), "-m", "-u", "-i", "-n", "-p", "-C"}
	}
	cmd := exec.Command(args[0], append(args[1:], "bash", "-ec", script)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "DEBIAN_FRONTEND=noninteractive",
		"LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (g *guest) must(t *testing.T, script string) string {
	t.Helper()
	out, err := g.sh(script)
	if err != nil {
		log, _ := g.sh("journalctl --no-pager -n 30 -u gnocco")
		t.Fatalf("%s: %v\n%s\n%s", script, err, out, log)
	}
	return out
}

// serve starts the guest's program as a user, without its systemd, and returns the server's address.
func (g *guest) serve(t *testing.T, user, program string) string {
	t.Helper()
	ids := strings.Split(user, ":")
	id, err := strconv.Atoi(ids[0])
	data := filepath.Join(g.root, "data")
	if err := errors.Join(err, os.Mkdir(data, 0o755), os.Chown(data, id, id)); err != nil {
		t.Fatal(err)
	}
	proc := filepath.Join(g.root, "proc")
	if err := errors.Join(os.MkdirAll(proc, 0o755), syscall.Mount("proc", proc, "proc", 0, "")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(proc, syscall.MNT_DETACH) })
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "chroot", "--userspec="+user, g.root, program, "serve", "--data", "/data",
		"--state", "/data/.state", "--listen", "127.0.0.1:0", "--min-free-bytes", "1MiB")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	out, err := cmd.StdoutPipe()
	var log strings.Builder
	cmd.Stderr = &log
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	t.Cleanup(func() {
		cancel()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 0 || t.Failed() {
			t.Errorf("%s ends with %v\n%s", program, err, &log)
		}
	})
	if err != nil {
		t.Fatalf("%s prints %q: %v", program, line, err)
	}
	return strings.TrimSuffix(line, "/ui/\n")
}

// requireFirstQuery stores a measure in a new server, and reads it by both APIs.
func requireFirstQuery(t *testing.T, address string) {
	t.Helper()
	ask := func(method, path, body string) string {
		request, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth("admin", "")
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %v\n%s", method, path, response.Status, err, text)
		}
		return string(text)
	}
	at := time.Now().UTC().Format("2006-01-02T15:04:05")
	ask(http.MethodPost, "/v1/resource/generic",
		`{"id": "kitchen", "metrics": {"temperature": {"archive_policy_name": "low"}}}`)
	ask(http.MethodPost, "/v1/batch/resources/metrics/measures",
		`{"kitchen": {"temperature": [{"timestamp": "`+at+`", "value": 21.5}]}}`)
	got := ask(http.MethodGet, "/v1/resource/generic/kitchen/metric/temperature/measures?refresh=true", "")
	if !strings.Contains(got, ", 300.0, 21.5]]") {
		t.Errorf("measures are %s", got)
	}
	got = ask(http.MethodGet, "/api/v1/query?query=last_over_time(temperature[1h])", "")
	if !strings.Contains(got, `"21.5"]`) {
		t.Errorf("the query's answer is %s", got)
	}
}
