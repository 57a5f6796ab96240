package senders_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/listener"
	"github.com/gnocco-db/gnocco/listener/graphite"
	"github.com/gnocco-db/gnocco/server"
)

// startGraphite returns a server with the template of docs/send/graphite.md, and the port for lines.
func startGraphite(t *testing.T) (s *server.Server, port string) {
	t.Helper()
	decoder, err := graphite.New([]string{"servers.* -.host.name*"})
	check(t, err)
	s, _ = start(t, func(o *server.Options) {
		o.Listeners = []listener.Options{{Protocol: "graphite", Listen: "127.0.0.1:0", Creator: "admin",
			Decoder: decoder, Read: decoder.Read}}
	})
	_, port, _ = cutLast(s.ListenerAddr("graphite").String(), ':')
	return s, port
}

// The lines of docs/send/graphite.md become what it says.
func TestGraphitePage(t *testing.T) {
	bash := installed(t, "bash")
	t.Parallel()
	s, port := startGraphite(t)
	runPage(t, "graphite.md", "bash", s.URL(), bash, "-euo", "pipefail", "-c", `source <(sed "s#127.0.0.1/2003#127.0.0.1/`+port+`#")`)
	reads(t, s.URL(), `{"disk.used"}`, `disk.used{host="web-1", path="/var"}`, 5.5)
	reads(t, s.URL(), "cpu_load", `cpu_load{host="web-1"}`, 0.25)
}

// collectd's plugin write_graphite sends what it measures.
func TestCollectdByGraphite(t *testing.T) {
	collectd := installed(t, "collectd")
	needsPlugin(t, "/usr/lib/collectd/write_graphite.so")
	t.Parallel()
	s, port := startGraphite(t)
	dir := t.TempDir()
	launch(t, collectd, "-f", "-C", write(t, "collectd.conf", `Hostname "host1"
BaseDir %q
PIDFile %q
Interval 1
LoadPlugin load
LoadPlugin write_graphite
<Plugin write_graphite>
  <Node "gnocco">
    Host "127.0.0.1"
    Port %q
    Protocol "tcp"
    Prefix "servers."
  </Node>
</Plugin>
`, dir, filepath.Join(dir, "pid"), port))
	eventually(t, func() string {
		const query = `count by (host) ({__name__=~"load_load_(short|mid|long)term"})`
		answer, err := ask(t, s.URL(), "query", url.Values{"query": {query}})
		if err != nil || len(answer) != 1 || answer[0].labels != `{host="host1"}` || answer[0].values[0] != 3 {
			return fmt.Sprint(answer, err)
		}
		return ""
	})
}
