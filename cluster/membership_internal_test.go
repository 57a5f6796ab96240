package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"gnocco/cluster/peer"
	"gnocco/storage/claim"
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

// Of many processes each is told of a store until it answers, and not again.
func TestAnnounceTellsEachProcess(t *testing.T) {
	const others = 50
	var asked [others]atomic.Int32
	s := &knownMembers{members: []claim.Member{{ID: "own", Roles: []string{string(RoleMetricd)}}}}
	for i := range others {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked[i].Add(1) == 1 && i%3 == 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		t.Cleanup(server.Close)
		s.members = append(s.members, claim.Member{ID: fmt.Sprint(i), Roles: []string{string(RoleMetricd)},
			Address: server.Listener.Addr().String()})
	}
	s.members = append(s.members, claim.Member{ID: "api", Roles: []string{string(RoleAPI)}})
	client := peer.NewClient("key", nil)
	defer client.Close()
	m := newMembership(s, client, slog.New(slog.DiscardHandler))
	if err := m.announce(t.Context(), "store"); err != nil {
		t.Fatal(err)
	}
	for i := range asked {
		want := int32(1)
		if i%3 == 0 {
			want = 2
		}
		if got := asked[i].Load(); got != want {
			t.Errorf("process %d was told %d times, want %d", i, got, want)
		}
	}
}
