package model

import "time"

// ClusterStatus is what the processes of a cluster say of themselves.
type ClusterStatus struct {
	Members []ClusterMember `json:"members"`
	Claims  []ClusterClaim  `json:"claims"`
	Sacks   []SackLag       `json:"sacks"`            // those with measures that wait
	Silent  []string        `json:"silent,omitempty"` // members that did not answer; their parts are left out
	// Suspended are incoming stores that were silent for so long that the order of their measures is not waited for.
	Suspended []string       `json:"suspended,omitempty"`
	Damaged   []DamagedStore `json:"damaged"` // those that the members found

	Bundles int `json:"-"` // in other processes' backlogs: which metrics they are of is not known
}

// ClusterMember is a process of a cluster.
type ClusterMember struct {
	ID      string   `json:"id"`
	Address string   `json:"address"`
	Roles   []string `json:"roles"`

	Figures *MemberFigures `json:"figures,omitempty"` // nil: it did not answer, or is of a build that tells none
}

// MemberFigures are what a member counts and measures of itself. Two of them give rates: how much a count grew, over
// how much the uptime grew.
type MemberFigures struct {
	Uptime    float64 `json:"uptime"`    // seconds for which it has counted
	Accepted  int64   `json:"accepted"`  // measures
	Processed int64   `json:"processed"` // measures

	Version     string `json:"version"`
	Memory      int64  `json:"memory"`       // bytes that are resident
	MemoryLimit int64  `json:"memory_limit"` // bytes
	Device      Device `json:"device"`

	Certificates map[string]time.Time `json:"certificates,omitempty"` // when they expire: "clients", "peers", "etcd"

	Pair string `json:"pair,omitempty"` // a series that two senders push, without --replica-labels
}

// Device says whether a process computes on a GPU.
type Device string

// The states of a Device.
const (
	DeviceNone Device = "none" // there is none, or none was needed yet
	DeviceUp   Device = "up"
	DeviceDown Device = "down" // it was in use, and is not now
)

// ClusterClaim is a store that a member holds.
type ClusterClaim struct {
	Name   string `json:"name"` // such as "sacks/003"
	Epoch  uint64 `json:"epoch"`
	Member string `json:"member"` // its ID
}

// DamagedStore is a store that is damaged, or cannot be opened for another reason, as the member says whose share it
// is.
type DamagedStore struct {
	Name   string     `json:"name"` // such as "sacks/003"
	Fault  StoreFault `json:"fault"`
	Reason string     `json:"reason"`
	Since  time.Time  `json:"since"` // when this member found it
	// Served is true if only parts of the store cannot be read: requests that need none of these are answered.
	Served bool   `json:"served"`
	Member string `json:"member"` // its ID
}

// Err returns the DamagedError for a request that needs the store.
func (s *DamagedStore) Err() error {
	return &DamagedError{Store: s.Name, Fault: s.Fault, Reason: s.Reason}
}

// SackLag is how far behind the processing of a sack is.
type SackLag struct {
	Sack     int     `json:"sack"`
	Measures int     `json:"measures"`
	Seconds  float64 `json:"seconds"` // since the oldest was accepted
}
