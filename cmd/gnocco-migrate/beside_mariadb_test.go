package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testcert"
)

// A real Gnocchi with MariaDB, reached by TLS, as kolla configures it, and files is copied from its configuration; all
// definitions and values are compared. It is the test's own: GNOCCHI_UP only says that such tests are wanted.
func TestBesideGnocchiWithMariaDB(t *testing.T) {
	if os.Getenv("GNOCCHI_UP") == "" {
		t.Skip("GNOCCHI_UP, which tests beside a Gnocchi are run with, is not set")
	}
	for _, name := range []string{"mariadbd", "mariadb-install-db", "uwsgi"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import gnocchi, pymysql").Run(); err != nil {
		t.Skip("python3-gnocchi or python3-pymysql is not installed")
	}
	dir, err := os.MkdirTemp("", "mariadb") // whose path is short enough for a socket
	fatal.If(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Log(err)
		}
	})
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		fatal.If(t, os.WriteFile(in(name), []byte(text), 0o644))
	}
	for _, name := range []string{"files", "shim"} {
		fatal.If(t, os.Mkdir(in(name), 0o755))
	}
	me, err := user.Current()
	fatal.If(t, err)
	as, data := "--user="+me.Username, "--datadir="+in("db")
	run(t, "mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal",
		"--skip-test-db", as, data)
	databasePort, port := strconv.Itoa(*besidePort+1010), strconv.Itoa(*besidePort+10)
	certificate, key := testcert.SelfSigned(t)
	start(t, in("mariadbd.log"), exec.Command("mariadbd", "--no-defaults", as, data, "--ssl-cert="+certificate,
		"--ssl-key="+key, "--bind-address=127.0.0.1", "--port="+databasePort, "--socket="+in("socket"),
		"--pid-file="+in("pid"), "--innodb-flush-log-at-trx-commit=0"))
	sql := func() error {
		cmd := exec.Command("mariadb", "--no-defaults", "--socket="+in("socket"), "--user=root", "--execute",
			"CREATE DATABASE gnocchi CHARACTER SET utf8; CREATE USER gnocchi@'%' IDENTIFIED BY 'secret' REQUIRE SSL; GRANT ALL ON gnocchi.* TO gnocchi@'%'")
		text, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return err
	}
	until(t, "MariaDB answers", sql)

	write("gnocchi.conf", `[api]
auth_mode = basic
max_limit = 1000
[indexer]
url = mysql+pymysql://gnocchi:secret@127.0.0.1:`+databasePort+`/gnocchi?charset=utf8&ssl_ca=`+certificate+`
[metricd]
workers = 1
metric_processing_delay = 1
metric_reporting_delay = -1
[storage]
driver = file
file_basepath = `+in("files")+"\n")
	// Debian pairs Gnocchi with a numpy that has no numpy.int any more.
	write("shim/sitecustomize.py", "import numpy\nif 'int' not in vars(numpy):\n    numpy.int = int\n")
	environment := append(os.Environ(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH="+in("shim"))
	gnocchiCommand := func(code string, more ...string) *exec.Cmd {
		cmd := exec.Command(python, append([]string{"-c", code, "--config-file", in("gnocchi.conf")}, more...)...)
		cmd.Env = environment
		return cmd
	}
	output(t, gnocchiCommand("from gnocchi.cli import manage; manage.upgrade()", "--sacks-number", "16",
		"--skip-archive-policies-creation"))
	api := exec.Command("/usr/bin/uwsgi", "--plugin", "http,python3", "--http", "127.0.0.1:"+port, "--http-keepalive",
		"--master", "--enable-threads", "--die-on-term", "--processes", "2", "--threads", "2", "--lazy-apps",
		"--chdir", "/", "--wsgi",
		"gnocchi.rest.wsgi",
		"--pyargv", "--config-file "+in("gnocchi.conf"))
	api.Env = environment
	start(t, in("api.log"), api)
	start(t, in("metricd.log"), gnocchiCommand("from gnocchi.cli import metricd; metricd.metricd()"))
	g := gnocchi{"http://127.0.0.1:" + port}
	until(t, "the Gnocchi answers", func() error {
		response, err := http.Get(g.url + "/v1/capabilities")
		if err == nil {
			err = response.Body.Close()
		}
		return err
	})
	g.seed(t, *besideResources, 10, 60)
	g.drained(t)

	programs := in("bin")
	run(t, "go", "build", "-o", programs+"/", ".")
	run(t, "go", "-C", "../..", "build", "-o", programs+"/", "./cmd/gnocco")
	migrate := func(flags ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(programs, "gnocco-migrate"), flags...)
		cmd.Env = append(os.Environ(), "OS_AUTH_URL=", "OS_TOKEN=")
		return output(t, cmd)
	}
	t.Log(migrate("--from-config", in("gnocchi.conf"), "--to", in("copied")))
	t.Log(migrate("--from", g.url, "--user", "admin", "--verify", "--to-url",
		serve(t, filepath.Join(programs, "gnocco"), in("copied")).url))
}

// start starts a program, the first of a process group, which is killed when the test ends.
func start(t *testing.T, log string, cmd *exec.Cmd) {
	t.Helper()
	file, err := os.Create(log)
	fatal.If(t, err)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	fatal.If(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("%s:\n%s", log, text[max(0, len(text)-3000):])
		}
		_ = file.Close()
	})
}

// until waits until f has no error.
func until(t *testing.T, what string, f func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatalf("%s: not in two minutes: %v", what, err)
}
