package prometheus

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Target says which metric of which resource a series belongs to. Its texts do not refer to the request.
type Target struct {
	Resource   string            // the resource's original ID
	Metric     string            // the metric's name
	Attributes map[string]string // of the resource, by name
}

// Labels that mean something to us.
var (
	nameLabel     = []byte("__name__")
	jobLabel      = []byte("job")
	instanceLabel = []byte("instance")
)

// absent stands for a job or instance that a series does not have.
var absent = []byte("none")

// maxResourceLength is in bytes, so that the ID keeps within what a resource's may have in characters.
const maxResourceLength = 255

var (
	errNoName = errors.New("prometheus: label __name__ is missing")
	errUTF8   = errors.New("prometheus: a label is not valid UTF-8")
)

// AppendKey appends a key of the target of series i: equal keys, equal targets. It is much cheaper
// than Target and checks nothing.
func (r *WriteRequest) AppendKey(dst []byte, i int, allLabels bool) []byte {
	if !allLabels {
		name, job, instance := r.names(i)
		return appendParts(dst, job, instance, name)
	}
	for _, l := range r.sorted(i) {
		dst = appendParts(dst, l.name, l.value)
	}
	return dst
}

// appendParts appends texts so that no two lists of texts look the same.
func appendParts(dst []byte, parts ...[]byte) []byte {
	for _, part := range parts {
		dst = binary.AppendUvarint(dst, uint64(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

// Target returns the target of series i, or what is wrong with its labels.
func (r *WriteRequest) Target(i int, allLabels bool) (*Target, error) {
	for _, l := range r.labelsOf(i) {
		if !utf8.Valid(l.name) || !utf8.Valid(l.value) {
			return nil, fmt.Errorf("%w, in series %d", errUTF8, i)
		}
	}
	name, job, instance := r.names(i)
	if len(name) == 0 {
		return nil, fmt.Errorf("%w, in series %d", errNoName, i)
	}
	target := &Target{
		Resource:   string(job) + "@" + string(instance),
		Metric:     strings.ReplaceAll(string(name), "/", "_"), // no name of a metric has a slash
		Attributes: map[string]string{"job": string(job), "instance": string(instance)},
	}
	if allLabels {
		target.Resource = escaper.Replace(string(job)) + "@" + escaper.Replace(string(instance))
		for _, l := range r.sorted(i) {
			if bytes.Equal(l.name, nameLabel) || bytes.Equal(l.name, jobLabel) || bytes.Equal(l.name, instanceLabel) {
				continue
			}
			target.Attributes[string(l.name)] = string(l.value)
			target.Resource += "," + escaper.Replace(string(l.name)) + "=" + escaper.Replace(string(l.value))
		}
	}
	target.Resource = strings.ReplaceAll(target.Resource, "/", "_")
	if len(target.Resource) > maxResourceLength {
		sum := sha256.Sum256([]byte(target.Resource))
		target.Resource = strings.ToValidUTF8(target.Resource[:maxResourceLength-33], "") + "~" + hex.EncodeToString(sum[:16])
	}
	return target, nil
}

// escaper keeps texts apart that would be the same resource without: no ID has a slash.
var escaper = strings.NewReplacer("%", "%25", "/", "%2F", ",", "%2C", "=", "%3D")

func (r *WriteRequest) labelsOf(i int) []label {
	return r.labels[r.Series[i].labelsFrom:r.Series[i].labelsTo]
}

// names returns the labels that Gnocchi keeps. Of labels with the same name the last one counts; an empty one counts as
// absent, as in Prometheus.
func (r *WriteRequest) names(i int) (name, job, instance []byte) {
	for _, l := range r.labelsOf(i) {
		switch {
		case bytes.Equal(l.name, nameLabel):
			name = l.value
		case bytes.Equal(l.name, jobLabel):
			job = l.value
		case bytes.Equal(l.name, instanceLabel):
			instance = l.value
		}
	}
	if len(job) == 0 {
		job = absent
	}
	if len(instance) == 0 {
		instance = absent
	}
	return name, job, instance
}

// sorted returns the labels of series i by name, each once and none empty. Prometheus sends them so; where they are
// not, they are put in order in place.
func (r *WriteRequest) sorted(i int) []label {
	labels := r.labelsOf(i)
	if !slices.IsSortedFunc(labels, byName) {
		slices.SortStableFunc(labels, byName)
	}
	kept := labels[:0]
	for at, l := range labels {
		last := at+1 == len(labels) || !bytes.Equal(l.name, labels[at+1].name)
		if last && len(l.value) > 0 {
			kept = append(kept, l)
		}
	}
	r.Series[i].labelsTo = r.Series[i].labelsFrom + len(kept)
	return kept
}

func byName(a, b label) int { return bytes.Compare(a.name, b.name) }
