package claim

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/google/uuid"
)

// Member is a process of the cluster, from Join to its death.
type Member struct {
	// ID is this process's alone and never used again. Join makes it of Node if it is empty.
	ID string `json:"id"`
	// Node is the name that stays when the process is started anew; Rendezvous goes by it. Two live members should not
	// share one. Letters, digits, dot, dash and underscore.
	Node    string   `json:"node"`
	Address string   `json:"address"` // where others reach it
	Roles   []string `json:"roles"`
	Weight  float64  `json:"weight"`  // share of the claims relative to others; 0: 1
	Process Process  `json:"process"` // filled in by Join if it is zero
	// Timed is set by Join of a File: differences of the counter are milliseconds from beat to beat.
	Timed bool `json:"timed,omitempty"`
}

// HasRole reports whether role is one of the member's.
func (m *Member) HasRole(role string) bool { return slices.Contains(m.Roles, role) }

var nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Complete fills in what coordinators add to a member that joins: a fresh ID, its weight and process. root is the data
// folder.
func (m *Member) Complete(root string) error {
	if !nodeName.MatchString(m.Node) {
		return fmt.Errorf("claim: node is called %q, not letters, digits, dot, dash and underscore", m.Node)
	}
	if m.Weight < 0 {
		return fmt.Errorf("claim: weight is %g, negative", m.Weight)
	}
	m.Weight = cmp.Or(m.Weight, 1)
	if m.ID == "" {
		m.ID = m.Node + "." + uuid.NewString()[:13]
	}
	if !nodeName.MatchString(m.ID) || m.ID == nobody {
		return fmt.Errorf("claim: member is called %q, not letters, digits, dot, dash and underscore", m.ID)
	}
	if m.Process == (Process{}) {
		p, err := ThisProcess(root)
		if err != nil {
			return err
		}
		m.Process = p
	}
	return nil
}
