package main_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Lines of senders, as influx_inspect writes them to a file and as its clients push them.
const (
	linesOfInflux = `cpu,host=a\ b,core=0 idle=12.5,busy=87i 1767225600000000000
cpu,host=a\ b,core=0 idle=13,busy=86i 1767225660000000000
"m x",t=v ok=true,about="two
lines, \"q\" # and=1" 1767225660000000000
reqs,db=own total=3 1767225600000000000
`
	linesOfGraphite = `servers.web-1.cpu.load 2 1767225600
servers.web-1.cpu.load 3.5 1767225660.25
disk.used;host=web-1;path=/var/x=y 5 1767225600
`
	graphiteTemplate = "servers.* -.host.name*"
)

// Files of a protocol become the series that the server's door makes of the same lines: labels, archive policies, types
// and measures.
func TestFilesOfProtocolsArePushedSeries(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	address := free.Addr().String()
	fatal.If(t, free.Close())
	pushed := serve(t, "--data", filepath.Join(t.TempDir(), "data"), "--graphite-listen", address, "--graphite-creator",
		"admin", "--graphite-template", graphiteTemplate)
	pushed.call(http.MethodPost, "/write?db=telegraf", linesOfInflux, http.StatusNoContent, nil)
	connection, err := net.Dial("tcp", address)
	fatal.If(t, err)
	_, err = connection.Write([]byte(linesOfGraphite))
	fatal.If(t, err)
	fatal.If(t, connection.Close())
	var found []any
	for begun := time.Now(); len(found) < 6 && time.Since(begun) < time.Minute; time.Sleep(50 * time.Millisecond) {
		pushed.call(http.MethodGet, "/v1/metric", "", http.StatusOK, &found)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprintf(w, "# INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z\n# DDL\nCREATE DATABASE telegraf WITH NAME "+
		"autogen\n# DML\n# CONTEXT-DATABASE:telegraf\n# CONTEXT-RETENTION-POLICY:autogen\n# writing tsm data\n%s", linesOfInflux)
	fatal.If(t, w.Close())
	dir := t.TempDir()
	influx, graphite := filepath.Join(dir, "all.gz"), filepath.Join(dir, "lines.txt")
	fatal.If(t, os.WriteFile(influx, packed.Bytes(), 0o600))
	fatal.If(t, os.WriteFile(graphite, []byte(linesOfGraphite), 0o600))

	imported := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	f := func(status int, want string, args ...string) {
		t.Helper()
		_, stderr, got := run(t, "", append([]string{"import", args[0], "--url", imported.url}, args[1:]...)...)
		if got != status || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %s, want %q", args, got, stderr, want)
		}
	}
	f(2, "1 field of text, which is not stored", "influx", "--dry-run", influx)
	f(2, "sent 6 measures of 4 metrics from 1 file", "influx", influx)
	f(0, "sent 3 measures of 2 metrics from 1 file", "graphite", "--graphite-template", graphiteTemplate, graphite)
	export := func(s *served) string {
		out, stderr, status := run(t, "", "export", "jsonl", "--aggregation", "last", "--url", s.url)
		if status != 0 {
			t.Fatal(stderr)
		}
		return out
	}
	want, got := export(pushed), export(imported)
	if want != got || strings.Count(want, "\n") != 6 || !strings.Contains(want, `"__name__":"cpu_load","host":"web-1"`) {
		t.Errorf("pushed:\n%s\nimported:\n%s", want, got)
	}
}

// A file's lines that are not taken are named by their numbers, and the exit status says so, also of a dry run.
func TestFilesOfProtocolsLoseNothingSilently(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	f := func(protocol, text string, rows int, wants ...string) {
		t.Helper()
		for _, dry := range []string{"--dry-run=true", "--dry-run=false"} {
			_, stderr, status := run(t, text, "import", protocol, dry, "--archive-policy", "auto",
				"--create-archive-policy", "--url", s.url, "-")
			if status != 2 || strings.Count("\n"+stderr, "\n-:")-strings.Count(stderr, "-: ") != len(wants) ||
				!strings.Contains(stderr, "keeps each of "+counted.Of(rows, "measure")) {
				t.Errorf("%s, %s: status %d, %s", protocol, dry, status, stderr)
			}
			for _, want := range wants {
				if !strings.Contains(stderr, "-:"+want+"\n") {
					t.Errorf("%s, %s: no %q in\n%s", protocol, dry, want, stderr)
				}
			}
		}
	}
	f("influx", "# a comment\nm a=1\nm a=1 1767225600000000000\nm a=\"x\nm a=2 1767225601000000000\nm a=\"x\ny\",b=1 1767225602000000000\n"+
		"m a=1x 5\nm a=3 99999999999999999999\nm,t=1,t=2 a=1 1767225603000000000\nm a=4 2767225600000000000\nm text=\"t\" 5\n",
		3, "2: has no timestamp", "4: the value of a field is not a number, boolean or text in quotes",
		"8: the value of a field is not a number, boolean or text in quotes", "9: the timestamp lies beyond 2262",
		`10: label "t" stands there twice`, "11: its timestamp is more than 24h0m0s ahead of the clock",
		"12: no field is a number or boolean, and text is not stored")
	f("influx", "# DDL\nCREATE DATABASE x\nDROP DATABASE y\n# DML\nm a=1 1767225600000000000\n", 1,
		"3: is no statement that creates something, between # DDL and # DML")
	f("graphite", "a.b 1 1767225600\na.b 2\n# x\na.b x 1767225600\na.b 1 x\na.b 2 -1\na;b 1 1767225600\na.b 4 1767225601\na.b 1 9000000000\n",
		2, "2: has no timestamp", "3: its value is not a number", "4: its value is not a number",
		"5: its time is not in seconds since 1970", "6: has no timestamp",
		"7: is not NAME VALUE TIME, or a tag is not KEY=VALUE", "9: its timestamp is more than 24h0m0s ahead of the clock")
}

// Old history is kept as fine as the file has it, by a policy that the import picks, also where a sender went on.
func TestFilesOfProtocolsKeepHistory(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	var influx, graphite strings.Builder
	for i := range 600 {
		fmt.Fprintf(&influx, "m,db=x a=%d %d\n", i, 1609459200+i)
		fmt.Fprintf(&graphite, "g.a %d %d\n", i, 1609459200+i)
	}
	for protocol, text := range map[string]string{"influx": influx.String(), "graphite": graphite.String()} {
		_, stderr, status := run(t, text, "import", protocol, "--archive-policy", "auto", "--create-archive-policy",
			"--precision=s", "--url", s.url, "-")
		if protocol == "graphite" {
			_, stderr, status = run(t, text, "import", protocol, "--archive-policy", "auto", "--create-archive-policy",
				"--url", s.url, "-")
		}
		if status != 0 || !strings.Contains(stderr, "keeps each of 600 measures of 1 metric") {
			t.Errorf("%s: status %d, %s", protocol, status, stderr)
		}
	}
	for _, name := range []string{"m_a", "g.a"} {
		out, stderr, status := run(t, "", "show", name, "--start", "2021-01-01", "--stop", "2022", "-o", "csv", "--url", s.url)
		if status != 0 || !strings.Contains(out, ",600,2021-01-01T00:00:00+00:00,2021-01-01T00:09:59+00:00,0,299.5,599,599,") {
			t.Errorf("%s: status %d, %s%s", name, status, out, stderr)
		}
	}
}
