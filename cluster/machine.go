package cluster

import (
	"cmp"
	"net"
	"os"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// Machine is what a process runs on. A zero field is that of the machine itself; a simulation has its own.
type Machine struct {
	Listen func(network, address string) (net.Listener, error) // to clients and to other processes
	Dial   peer.Dialer                                         // to other processes
	Clock  claim.Clock
	Exit   func(status int) // ends the process, and does not return
}

func (m *Machine) ensureDefaults() {
	if m.Listen == nil {
		m.Listen = net.Listen
	}
	if m.Dial == nil {
		m.Dial = peer.TCP
	}
	m.Clock = cmp.Or[claim.Clock](m.Clock, claim.BootClock{})
	if m.Exit == nil {
		m.Exit = os.Exit
	}
}
