package prometheus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/model"
)

// A Target says which metric of which resource a series belongs to. Its texts do not refer to the request.
type Target struct {
	Resource   string            // the resource's original ID
	Metric     string            // the metric's name
	Attributes map[string]string // of the resource, by name
}

// Labels that mean something to us.
var (
	nameLabel     = []byte(model.LabelName)
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
	errLabel  = errors.New("prometheus: a label has no name")
)

// AppendKey appends the labels of series i as they came. Equal keys are of equal labels, and so of equal targets; a
// sender that orders its labels in another way makes other keys.
func (r *WriteRequest) AppendKey(dst []byte, i int) []byte {
	return append(dst, r.plain[r.Series[i].labelsFrom:r.Series[i].labelsTo]...)
}

// AppendLabels appends the labels of series i, as model.Labels has them. They may be no valid UTF-8.
func (r *WriteRequest) AppendLabels(dst []byte, i int) []byte {
	for _, l := range sorted(r.labelsOf(r.Series[i])) {
		dst = model.AppendLabel(dst, l.name, l.value)
	}
	return dst
}

// Labels returns the labels of series i, or what is wrong with them.
func (r *WriteRequest) Labels(i int) (model.Labels, error) {
	if _, err := r.check(i); err != nil {
		return "", err
	}
	labels := model.Labels(r.AppendLabels(nil, i))
	if !labels.Valid() { // a label without a name
		return "", fmt.Errorf("%w, in series %d", errLabel, i)
	}
	return labels, nil
}

// check returns the labels of series i, or what is wrong with them. They have a name.
func (r *WriteRequest) check(i int) ([]label, error) {
	labels := r.labelsOf(r.Series[i])
	for _, l := range labels {
		if !utf8.Valid(l.name) || !utf8.Valid(l.value) {
			return nil, fmt.Errorf("%w, in series %d", errUTF8, i)
		}
	}
	if name, _, _ := names(labels); len(name) == 0 {
		return nil, fmt.Errorf("%w, in series %d", errNoName, i)
	}
	return labels, nil
}

// Target returns the target of series i, or what is wrong with its labels.
func (r *WriteRequest) Target(i int) (*Target, error) {
	labels, err := r.check(i)
	if err != nil {
		return nil, err
	}
	name, job, instance := names(labels)
	target := &Target{
		Resource:   string(job) + "@" + string(instance),
		Metric:     strings.ReplaceAll(string(name), "/", "_"), // no name of a metric has a slash
		Attributes: map[string]string{"job": string(job), "instance": string(instance)},
	}
	target.Resource = strings.ReplaceAll(target.Resource, "/", "_")
	if len(target.Resource) > maxResourceLength {
		sum := sha256.Sum256([]byte(target.Resource))
		target.Resource = strings.ToValidUTF8(target.Resource[:maxResourceLength-33], "") + "~" +
			hex.EncodeToString(sum[:16])
	}
	return target, nil
}

// names returns the labels that Gnocchi keeps. Of labels with the same name the last one counts; an empty one counts as
// absent, as in Prometheus.
func names(labels []label) (name, job, instance []byte) {
	for _, l := range labels {
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

// sorted returns labels by name, each once and none empty. Prometheus sends them so; others are put in order in place.
func sorted(labels []label) []label {
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
	return kept
}

func byName(a, b label) int { return bytes.Compare(a.name, b.name) }
