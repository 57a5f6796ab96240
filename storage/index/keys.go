package index

import (
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// The first byte of each key. docs/format/index.md says what follows and what the values are.
const (
	prefixArchivePolicy = 'p' // name
	prefixRule          = 'r' // name
	prefixMetric        = 'm' // metric ID
	prefixPolicyMetric  = 'a' // archive policy name, 0, metric ID: the metrics of a policy, deleted ones too
	prefixNamedMetric   = 'n' // resource ID, metric name: the metrics of a resource whose value does not list them
	prefixLabels        = 'l' // digest of creator and labels: the metric that has these labels
	prefixDeleted       = 'd' // metric ID: to be expunged
	prefixResource      = 'o' // resource ID
	prefixRevision      = 'h' // resource ID, number: a past state
	prefixResourceType  = 'y' // name
	// resource type name, 0, start of the revision, start, resource ID: the resources of a type
	prefixTypeResource = 't'
	prefixField        = 'x' // a field, its value, resource ID: the live resources that have the value
	prefixAttribute    = 'i' // resource type name, 0, era of an attribute, value, resource ID: likewise
	prefixRebuild      = 'j' // its ID
	// a field, its value, metric ID: the metrics that have the value and are not marked deleted
	prefixMetricField = 'z'
)

// The second byte of keys under prefixField and prefixMetricField.
const (
	fieldCreator  = 'c'
	fieldUser     = 'u'
	fieldProject  = 'p'
	fieldOriginal = 'o' // the ID as the client wrote it, unless it is shown so
	fieldStarted  = 's'
	fieldEnded    = 'e'

	fieldName = 'n' // of metrics, which have a creator, too
	fieldUnit = 'w'
)

var (
	keyVersion = []byte("v") // the format version, one byte
	keyCounts  = []byte("c") // how many metrics there are, and how many of them are marked deleted
	keyNumber  = []byte("s") // the number of the last revision
)

func nameKey(prefix byte, name string) []byte { return append([]byte{prefix}, name...) }

func idKey(prefix byte, id uuid.UUID) []byte { return append([]byte{prefix}, id[:]...) }

// policyMetricPrefix is what the keys of a policy's metrics begin with. Names hold no NUL.
func policyMetricPrefix(policy string) []byte {
	return append(append([]byte{prefixPolicyMetric}, policy...), 0)
}

func policyMetricKey(policy string, id uuid.UUID) []byte {
	return append(policyMetricPrefix(policy), id[:]...)
}

// labelsKey is the key of the metric of a creator that has these labels. Labels are longer than keys should be.
func labelsKey(creator string, labels model.Labels) []byte {
	digest := sha256.New()
	io.WriteString(digest, creator)
	digest.Write([]byte{0})
	io.WriteString(digest, string(labels))
	return digest.Sum([]byte{prefixLabels})
}

func namedMetricKey(resource uuid.UUID, name string) []byte {
	return append(idKey(prefixNamedMetric, resource), name...)
}

// typeResourcePrefix is what the keys of a type's resources begin with. Names hold no NUL.
func typeResourcePrefix(resourceType string) []byte {
	return append(append([]byte{prefixTypeResource}, resourceType...), 0)
}

// revisionKey sorts the revisions of a resource by number.
func revisionKey(resource uuid.UUID, number uint64) []byte {
	return binary.BigEndian.AppendUint64(idKey(prefixRevision, resource), number)
}

// lastID returns the ID that a key ends with.
func lastID(key []byte) (id uuid.UUID, ok bool) {
	if len(key) < len(id) {
		return id, false
	}
	return uuid.UUID(key[len(key)-len(id):]), true
}

// attributePrefix is what the keys of an attribute's values begin with, as far as they were written in one of its eras.
func attributePrefix(resourceType string, era uint32) []byte {
	prefix := append(append([]byte{prefixAttribute}, resourceType...), 0)
	return binary.BigEndian.AppendUint32(prefix, era)
}

// prefixEnd returns the first key after all that begin with prefix.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil // all 0xff: no end
}
