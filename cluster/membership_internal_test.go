package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// knownMembers is a session of whom nothing is asked but who the members are.
type knownMembers struct {
	claim.Session
	members []claim.Member
}

func (s *knownMembers) Member() claim.Member { return s.members[0] }

func (s *knownMembers) Members(context.Context) ([]claim.Member, error) {
	return append([]claim.Member(nil), s.members...), nil
}

func (s *knownMembers) Look(context.Context) error { return nil }

// Of many processes each is told of a store until it answers, and not again.
func TestAnnounceTellsEachProcess(t *testing.T) {
	const others = 50
	var asked [others]atomic.Int32
	s := &knownMembers{members: []claim.Member{{ID: "own", Roles: []string{string(RoleMetricd)}}}}
	for i := range others {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if path.Base(r.URL.Path) != "wake" {
				return // a ping: the process was slow to answer
			}
			if asked[i].Add(1) == 1 && i%3 == 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		t.Cleanup(server.Close)
		s.members = append(s.members, claim.Member{ID: fmt.Sprint(i), Roles: []string{string(RoleMetricd)},
			Address: server.Listener.Addr().String()})
	}
	s.members = append(s.members, claim.Member{ID: "api", Roles: []string{string(RoleAPI)}})
	client := peer.NewClient("key", nil, peer.TCP)
	defer client.Close()
	var log bytes.Buffer
	m := newMembership(s, client, slog.New(slog.NewTextHandler(&log, nil)))
	begun := time.Now()
	fatal.If(t, m.announce(t.Context(), "store"))
	slow := time.Since(begun) > wakeTimeout // then one may have been told again that was slow to answer
	if strings.Contains(log.String(), "error=<nil>") {
		t.Errorf("warns of a process that answered: %s", log.String())
	}
	for i := range asked {
		want := int32(1)
		if i%3 == 0 {
			want = 2
		}
		if got := asked[i].Load(); got < want || got > want && !slow {
			t.Errorf("process %d was told %d times, want %d", i, got, want)
		}
	}
}

// A process that does not answer is warned of at once, by its address, and again after a while only.
func TestAnnounceWarnsOfSilentProcess(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	address := listener.Addr().String()
	listener.Close()
	client := peer.NewClient("key", nil, peer.TCP)
	defer client.Close()
	f := func(every time.Duration, least, most int) {
		t.Helper()
		var log bytes.Buffer
		m := newMembership(&knownMembers{members: []claim.Member{{ID: "own"},
			{ID: "silent", Roles: []string{string(RoleMetricd)}, Address: address}}}, client,
			slog.New(slog.NewTextHandler(&log, nil)))
		if m.warnEvery != announceWarning {
			t.Errorf("warns every %v", m.warnEvery)
		}
		m.warnEvery = every
		ctx, cancel := context.WithTimeout(t.Context(), 10*announcePause)
		defer cancel()
		if err := m.announce(ctx, "store"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("announced: %v", err)
		}
		lines, warnings := strings.Count(log.String(), "\n"), strings.Count(log.String(), "level=WARN")
		if lines != warnings || warnings < least || warnings > most || !strings.Contains(log.String(), address) ||
			!strings.Contains(log.String(), "--peer-listen") {
			t.Errorf("want %d to %d warnings: %s", least, most, log.String())
		}
	}
	f(time.Hour, 1, 1)
	f(time.Millisecond, 2, 11)
}

// Processes of several machines cannot share a folder as long as one of them advertises a loopback address. Processes
// of one machine can, and a dead one is soon no obstacle.
func TestLoopbackBetweenMachinesIsRefused(t *testing.T) {
	member := func(id, boot, address string) claim.Member {
		return claim.Member{ID: id, Address: address, Process: claim.Process{BootID: boot, Host: "host-of-" + id}}
	}
	f := func(refused string, members ...claim.Member) {
		t.Helper()
		m := newMembership(&knownMembers{members: members}, nil, slog.New(slog.DiscardHandler))
		err := m.refuseLoopback(t.Context(), 0)
		if (err != nil) != (refused != "") || err != nil && !(strings.Contains(err.Error(), refused) &&
			strings.Contains(err.Error(), "--peer-listen")) {
			t.Errorf("%v, want %q", err, refused)
		}
	}
	far, alsoFar := member("b", "2", "192.0.2.2:1"), member("c", "3", "[2001:db8::1]:1")
	f("", member("a", "1", "127.0.0.1:1"))
	f("", member("a", "1", "127.0.0.1:1"), member("b", "1", "[::1]:2"), member("c", "1", "192.0.2.1:1"))
	f("", member("a", "1", "192.0.2.1:1"), far, alsoFar)
	f("a says that it is reached at 127.0.0.1:1", member("a", "1", "127.0.0.1:1"), far)
	f("a says that it is reached at [::1]:1", member("a", "1", "[::1]:1"), far)
	f("d says that it is reached at localhost:1", member("a", "1", "192.0.2.1:1"), far, member("d", "4", "localhost:1"))

	s := &knownMembers{members: []claim.Member{member("a", "1", "127.0.0.1:1"), far}}
	m := newMembership(&dyingMembers{s, 3}, nil, slog.New(slog.DiscardHandler))
	if err := m.refuseLoopback(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
}

// dyingMembers is a session whose other members turn out to be dead when it has been asked often.
type dyingMembers struct {
	*knownMembers
	left int
}

func (s *dyingMembers) Members(ctx context.Context) ([]claim.Member, error) {
	if s.left--; s.left <= 0 {
		return s.members[:1], nil
	}
	return s.knownMembers.Members(ctx)
}
