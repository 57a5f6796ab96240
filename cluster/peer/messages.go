package peer

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/index"
)

// pollRequest asks for an incoming store's records of some sacks.
type pollRequest struct {
	Store    string        `json:"store"` // its ID
	Wait     time.Duration `json:"wait"`  // longest, without records
	Sacks    []pollSack    `json:"sacks"`
	Finished []pollSack    `json:"finished,omitempty"` // After: sequence that is acknowledged, also of other sacks
	Lists    bool          `json:"lists,omitempty"`    // ids may be sent once for all records of a list
}

type pollSack struct {
	Sack  int    `json:"sack"`
	After uint64 `json:"after"`
	// Processed is how far the sack is, for the backlog; nil: as far as After.
	Processed *uint64 `json:"processed,omitempty"`
}

func (s *pollSack) processed() uint64 {
	if s.Processed == nil {
		return s.After
	}
	return *s.Processed
}

type idsRequest struct {
	IDs []uuid.UUID `json:"ids"`
}

// Notice tells a process of a change of members or claims. A zero one says that there is one.
type Notice struct {
	Leaving string       `json:"leaving,omitempty"` // ID of a member that is about to leave
	Store   string       `json:"store,omitempty"`   // name of an incoming store that is about to accept measures
	Given   bool         `json:"given,omitempty"`   // Sack was given back for the process to take
	Taken   string       `json:"taken,omitempty"`   // name of a store, Sack or none (-1), which Holder has taken
	Sack    int          `json:"sack,omitempty"`
	Holder  claim.Holder `json:"holder,omitzero"`
}

type deletedRequest struct {
	Limit int `json:"limit"`
}

// version is the version of the index: it has another epoch or another generation after a change.
type version struct {
	Epoch      uint64 `json:"epoch"`
	Generation uint64 `json:"generation"`
}

// versionRequest also reports what projects sent to the process that asks.
type versionRequest struct {
	Quotas *quota.Report `json:"quotas,omitempty"`
}

type versionAnswer struct {
	version
	Quotas *quota.Answer `json:"quotas,omitempty"`
}

type findAnswer struct {
	Version  version             `json:"version"` // before the metrics were looked up
	Policies []index.ExactPolicy `json:"policies"`
	Metrics  []metric            `json:"metrics"` // the existing ones
}

// pushAnswer comes after its header, once the batch is durable. Refused says why the batch cannot be stored, and Failed
// why it could not be now.
type pushAnswer struct {
	Refused string `json:"refused,omitempty"`
	Failed  string `json:"failed,omitempty"`
}

// reviveRequest has the newest measures of resources that ended.
type reviveRequest struct {
	Newest map[uuid.UUID]carbonara.Timestamp `json:"newest"`
	At     carbonara.Timestamp               `json:"at"`
}

type metric struct {
	ID       uuid.UUID  `json:"id"`
	Name     string     `json:"name,omitempty"`
	Unit     string     `json:"unit,omitempty"`
	Creator  string     `json:"creator"`
	Policy   int        `json:"policy"`
	Resource *uuid.UUID `json:"resource,omitempty"`

	ResourceEndedAt *carbonara.Timestamp `json:"resource_ended_at,omitempty"`

	SchemaPending bool `json:"schema_pending,omitempty"`
	Replicas      bool `json:"replicas,omitempty"`
}

// policies numbers the archive policies of a message.
type policies struct {
	list   Policies
	number map[*model.ArchivePolicy]int
}

func (p *policies) of(policy *model.ArchivePolicy) int {
	n, ok := p.number[policy]
	if !ok {
		if p.number == nil {
			p.number = make(map[*model.ArchivePolicy]int)
		}
		n = len(p.list)
		p.number[policy] = n
		p.list = append(p.list, policy)
	}
	return n
}

// Policies are archive policies in a message.
type Policies []*model.ArchivePolicy

// MarshalJSON implements json.Marshaler.
func (p Policies) MarshalJSON() ([]byte, error) { return json.Marshal(p.sent()) }

func (p Policies) sent() []index.ExactPolicy {
	sent := make([]index.ExactPolicy, len(p))
	for i := range p {
		sent[i] = index.ToExactPolicy(p[i])
	}
	return sent
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Policies) UnmarshalJSON(text []byte) error {
	var sent []index.ExactPolicy
	err := json.Unmarshal(text, &sent)
	*p = make(Policies, len(sent))
	for i := range sent {
		if err == nil {
			(*p)[i], err = sent[i].Policy()
		}
	}
	return err
}

// Status is a process's report of itself.
type Status struct {
	Member string        `json:"member"`
	Claims []ClaimStatus `json:"claims"`
	Stores []StoreStatus `json:"incoming"`
	// Suspended are the names of incoming stores whose order is not waited for.
	Suspended []string `json:"suspended,omitempty"`

	Damaged []model.DamagedStore `json:"damaged,omitempty"` // Member is not set
	Lost    string               `json:"lost,omitempty"`    // why it can answer next to nothing

	Figures *model.MemberFigures `json:"figures,omitempty"` // nil: of a build that tells none
}

// ClaimStatus is a store that a process holds, of any kind.
type ClaimStatus struct {
	Name  string `json:"name"`
	Epoch uint64 `json:"epoch"`
}

// StoreStatus is an incoming store that a process holds.
type StoreStatus struct {
	Name    string       `json:"name"`
	ID      string       `json:"id"`
	Backlog []SackStatus `json:"backlog"` // only of sacks that have one
}

// SackStatus is the backlog of one sack.
type SackStatus struct {
	Sack     int     `json:"sack"`
	Measures int     `json:"measures"`
	Blocks   int     `json:"blocks"`
	Seconds  float64 `json:"seconds"` // since the oldest was accepted
}
