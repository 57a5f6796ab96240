package server_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/listener"
	"github.com/gnocco-db/gnocco/listener/graphite"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func graphiteOptions(t *testing.T) []listener.Options {
	t.Helper()
	decoder, err := graphite.New([]string{"servers.* -.host.name*"})
	fatal.If(t, err)
	return []listener.Options{{Protocol: "graphite", Listen: "127.0.0.1:0", Creator: "admin", Decoder: decoder, Read: decoder.Read}}
}

// queries waits until the answer to an instant query has a part.
func queries(t *testing.T, s *server.Server, query, want string) {
	t.Helper()
	c := clientOf(t, s)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var answer struct {
			Data struct {
				Result []struct {
					Metric map[string]string
					Value  []any
				}
			}
		}
		err := c.Do(t.Context(), "GET", "/api/v1/query?query="+url.QueryEscape(query), nil, &answer)
		got := ""
		if len(answer.Data.Result) == 1 {
			got = fmt.Sprint(answer.Data.Result[0].Metric, answer.Data.Result[0].Value[1])
		}
		if err == nil && got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v, %+v, want %s", query, err, answer, want)
		}
	}
}

func sendTo(t *testing.T, network string, address net.Addr, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial(network, address.String())
	fatal.If(t, err)
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// Every process of a cluster takes Graphite's lines, by TCP and UDP; only one of them holds the index. Lines that are
// read before the end are there after the next start.
func TestListenersOfACluster(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	options := func(role cluster.Role) server.Options {
		return server.Options{Cluster: cluster.Options{Data: data, Role: role, Sacks: 2}, Listeners: graphiteOptions(t)}
	}
	first, second := start(t, options(cluster.RoleBoth)), start(t, options(cluster.RoleAPI))
	now := time.Now().Unix()
	for i, s := range []*server.Server{first, second} {
		address := s.ListenerAddr("graphite")
		lines := fmt.Sprintf("disk.used;host=h%d;path=/var 5.5 %d\nservers.web%d.cpu.load 2 -1\r\nbad\nx y 1\n", i, now, i)
		defer sendTo(t, "tcp", address, lines).Close()
		defer sendTo(t, "udp", address, fmt.Sprintf("plain.%d 7 %d\nplain.%d 8 -1", i, now-1, i)).Close()
	}
	for i, s := range []*server.Server{second, first} { // each shows what the other one took
		queries(t, s, fmt.Sprintf(`{"disk.used",host="h%d"}`, i), fmt.Sprintf("map[__name__:disk.used host:h%d path:/var]5.5", i))
		queries(t, s, fmt.Sprintf(`cpu_load{host="web%d"}`, i), fmt.Sprintf("map[__name__:cpu_load host:web%d]2", i))
		queries(t, s, fmt.Sprintf(`{"plain.%d"}`, i), fmt.Sprintf("map[__name__:plain.%d]8", i))
	}
	for _, s := range []*server.Server{first, second} {
		text := figures(t, s)
		for _, want := range []string{`gnocco_listener_refused_total{protocol="graphite",reason="form"} 1`,
			`gnocco_listener_refused_total{protocol="graphite",reason="value"} 1`,
			`gnocco_listener_connections{protocol="graphite"} 1`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is missing", want)
			}
		}
	}
	for _, s := range []*server.Server{first, second} { // a client cannot say that it is a listener
		r, err := http.NewRequest(http.MethodPost, s.URL()+"/api/v1/import", strings.NewReader("{}"))
		fatal.If(t, err)
		r.Header.Set("Gnocco-Listener", "creator admin")
		answer, err := http.DefaultClient.Do(r)
		fatal.If(t, err)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("status %d", answer.StatusCode)
		}
	}
	defer sendTo(t, "udp", second.ListenerAddr("graphite"), "late 9 -1\nbad").Close()
	const read = `gnocco_listener_refused_total{protocol="graphite",reason="form"} 2` // and it waits for others
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(figures(t, second), read); {
		if time.Now().After(deadline) {
			t.Fatal("the datagram does not arrive")
		}
		time.Sleep(time.Millisecond)
	}
	stop(t, second)
	queries(t, first, "late", "map[__name__:late]9")
	stop(t, first)
}
