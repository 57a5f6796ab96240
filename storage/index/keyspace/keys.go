package keyspace

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// The first byte of each key. docs/format/index.md says what follows and what the values are.
const (
	ArchivePolicy = 'p' // name
	Rule          = 'r' // name
	Metric        = 'm' // metric ID
	PolicyMetric  = 'a' // archive policy name, 0, metric ID: the metrics of a policy, including deleted ones
	NamedMetric   = 'n' // resource ID, metric name: the metrics of a resource whose value does not list them
	Labels        = 'l' // digest of creator and labels: the metric that has these labels
	Deleted       = 'd' // metric ID: to be expunged
	Resource      = 'o' // resource ID
	Revision      = 'h' // resource ID, number: a past state
	ResourceType  = 'y' // name
	// resource type name, 0, start of the revision, start, resource ID: the resources of a type
	TypeResource = 't'
	Field        = 'x' // a field, its value, resource ID: the live resources that have the value
	Attribute    = 'i' // resource type name, 0, era of an attribute, value, resource ID: likewise
	Rebuild      = 'j' // its ID
	Metadata     = 'w' // project, 0, name of series
	Ledger       = 'g' // its ID: measures that were deleted or replaced
	Board        = 'b' // its ID
	Quota        = 'q' // project
	Recording    = 'e' // documents of package rules, by its own keys
	Change       = 'k' // number of the last change in it: metrics and resources that a commit changed
	// a field, its value, metric ID: the metrics that have the value and are not marked deleted
	MetricField = 'z'
)

// The second byte of keys under Field and MetricField.
const (
	FieldCreator  = 'c'
	FieldUser     = 'u'
	FieldProject  = 'p'
	FieldOriginal = 'o' // the ID as the client wrote it, unless it is shown so
	FieldStarted  = 's'
	FieldEnded    = 'e'

	FieldName = 'n' // of metrics, which also have a creator
	FieldUnit = 'w'
)

var (
	Version      = []byte("v") // the format version, one byte
	Counts       = []byte("c") // how many metrics there are, and how many of them are marked deleted
	LastRevision = []byte("s") // the number of the last revision
)

func NameKey(prefix byte, name string) []byte { return append([]byte{prefix}, name...) }

func IDKey(prefix byte, id uuid.UUID) []byte { return append([]byte{prefix}, id[:]...) }

// PolicyMetricPrefix is what the keys of a policy's metrics begin with. Names hold no NUL.
func PolicyMetricPrefix(policy string) []byte {
	return append(append([]byte{PolicyMetric}, policy...), 0)
}

func PolicyMetricKey(policy string, id uuid.UUID) []byte {
	return append(PolicyMetricPrefix(policy), id[:]...)
}

// LabelsKey is the key of the metric of a creator that has these labels. Labels are longer than keys should be.
func LabelsKey(creator string, labels model.Labels) []byte {
	text := make([]byte, 0, 512)
	text = append(append(append(text, creator...), 0), labels...)
	digest := sha256.Sum256(text)
	return append([]byte{Labels}, digest[:]...)
}

// MetadataKey is the key of the metadata of a project's series of a name. Projects hold no NUL.
func MetadataKey(project, name string) []byte {
	return append(append(NameKey(Metadata, project), 0), name...)
}

func NamedMetricKey(resource uuid.UUID, name string) []byte {
	return append(IDKey(NamedMetric, resource), name...)
}

// TypeResourcePrefix is what the keys of a type's resources begin with. Names hold no NUL.
func TypeResourcePrefix(resourceType string) []byte {
	return append(append([]byte{TypeResource}, resourceType...), 0)
}

// RevisionKey sorts the revisions of a resource by number.
func RevisionKey(resource uuid.UUID, number uint64) []byte {
	return binary.BigEndian.AppendUint64(IDKey(Revision, resource), number)
}

// LastID returns the ID that a key ends with.
func LastID(key []byte) (id uuid.UUID, ok bool) {
	if len(key) < len(id) {
		return id, false
	}
	return uuid.UUID(key[len(key)-len(id):]), true
}

// AttributePrefix is what the keys of an attribute's values begin with, as far as they were written in one of its eras.
func AttributePrefix(resourceType string, era uint32) []byte {
	prefix := append(append([]byte{Attribute}, resourceType...), 0)
	return binary.BigEndian.AppendUint32(prefix, era)
}

// PrefixEnd returns the first key after all that begin with prefix.
func PrefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil // all 0xff: no end
}

// Costs say how much is read of the index in the hope that it spares more. Resources in a scan of all take some 0.9 µs
// of CPU each; read by their IDs 3 µs if their blocks are in memory, ten times that if not: docs/explain/benchmarks.md.
type Costs struct {
	FewCandidates int // that are read at once
	StreamedRows  int // that are read in the order of the page, before another way is tried
	ScansPerRead  int // resources that are scanned in the time that one takes to be read by its ID
}

var DefaultCosts = Costs{FewCandidates: 5_000, StreamedRows: 10_000, ScansPerRead: 6}
