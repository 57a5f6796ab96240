package cluster_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var errCut = errors.New("no route to host")

// An API that reaches neither the index nor a sack is not ready, and names their holders, if another API reaches them.
// If none does, all stay ready.
func TestReadyIsHonest(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		network := &pipes{listeners: make(map[string]*pipeListener)}
		clock := bubbleClock{time.Now()}
		var apart atomic.Pointer[func(from, to string) bool]
		home := map[string]string{"127.0.0.1:1": "n0", "127.0.0.1:2": "w", "127.0.0.1:3": "n1"} // as they start
		cuts := func(node, address string) bool {
			cut := apart.Load()
			return cut != nil && (*cut)(node, home[address])
		}
		start := func(name string, role cluster.Role) *cluster.Process {
			node, _, _ := strings.Cut(name, "-")
			p, err := cluster.Open(t.Context(), cluster.Options{Data: data, FS: counting(), Role: role, Sacks: 8,
				Init: true, Node: name, MinFreeBytes: 1, Machine: cluster.Machine{Listen: network.listen, Clock: clock,
					Dial: func(ctx context.Context, kind, address string) (net.Conn, error) {
						if cuts(node, address) {
							return nil, errCut
						}
						c, err := network.dial(ctx, kind, address)
						return &cutConn{c, func() bool { return cuts(node, address) }}, err
					}}})
			fatal.If(t, err)
			fatal.If(t, p.Run(t.Context(), cluster.Handlers{Failed: func(err error) { t.Error(err) }}))
			return p
		}
		here := start("n0-api", cluster.RoleAPI)
		worker := start("w-metricd", cluster.RoleMetricd)
		there := start("n1-api", cluster.RoleAPI)
		defer func() {
			for _, p := range []*cluster.Process{there, here, worker} {
				fatal.If(t, p.Close(context.Background()))
			}
		}()
		time.Sleep(time.Minute)
		ready := func(when string, p *cluster.Process, want ...string) {
			t.Helper()
			for range 3 { // the first answer may be of before
				p.NotReady()
				time.Sleep(2 * time.Second)
			}
			got := strings.Join(p.NotReady(), "; ")
			for _, part := range want {
				if !strings.Contains(got, part) {
					t.Errorf("%s: not ready as %q, want %q", when, got, part)
				}
			}
			if (got != "") != (len(want) > 0) {
				t.Errorf("%s: not ready as %q", when, got)
			}
		}
		cut := func(between func(from, to string) bool) {
			apart.Store(&between)
			for range 15 { // a balancer asks all the time
				for _, p := range []*cluster.Process{here, there} {
					p.NotReady()
				}
				time.Sleep(2 * time.Second)
			}
		}
		ready("before", here)
		ready("before", there)
		cut(func(from, to string) bool { return (from == "n1") != (to == "n1") })
		ready("apart", here)
		ready("apart", there, "0 of 8 sacks", "(8 sacks)", "w-metricd", "(the index)", "accepts")
		apart.Store(nil)
		time.Sleep(20 * time.Second)
		ready("joined again", there)
		cut(func(_, to string) bool { return to == "w" })
		ready("without the worker", here)
		ready("without the worker", there)
	})
}

// cutConn is a connection that fails once its ends are cut apart.
type cutConn struct {
	net.Conn
	cut func() bool
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.cut() {
		return 0, errCut
	}
	return n, err
}

func (c *cutConn) Write(b []byte) (int, error) {
	if c.cut() {
		return 0, errCut
	}
	return c.Conn.Write(b)
}
