package prometheus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/model"
)

// maxResourceLength is in bytes, so that the ID keeps within what a resource's may have in characters.
const maxResourceLength = 255

var (
	errNoName = errors.New("prometheus: label __name__ is missing")
	errUTF8   = errors.New("prometheus: a label is not valid UTF-8")
	errLabel  = errors.New("prometheus: a label has no name")
)

// readHead reads the labels of a row of version 1. In Gnocchi's mapping, of labels with the same name the last one
// counts.
func (r *WriteRequest) readHead(head []byte, dst *series.Labels) error {
	odd, err := r.readLabels(head, dst)
	if err == nil && odd != nil && r.Labelled {
		err = fmt.Errorf("series %.100q: %w", dst.Get(model.LabelName), odd)
	}
	if err != nil {
		return invalidInput(err)
	}
	return nil
}

// gnocchiRows are the rows of a request of version 1 in Gnocchi's mapping.
type gnocchiRows struct {
	*WriteRequest
	collision string // name of a metric that was several series of one request
}

// Name is of ingest.Rows. Its texts do not refer to the request. An empty label counts as absent, as in Prometheus.
func (r *gnocchiRows) Name(row int) (*ingest.Name, error) {
	if err := r.readRow(row, &r.labels); err != nil {
		return nil, err
	}
	if !model.Labels(r.labels.Append(nil)).Valid() {
		return nil, invalidInput(fmt.Errorf("%w, in series %d", errUTF8, row))
	}
	name := r.labels.Get(model.LabelName)
	if name == "" {
		return nil, invalidInput(fmt.Errorf("%w, in series %d", errNoName, row))
	}
	job, instance := cmp.Or(r.labels.Get("job"), "none"), cmp.Or(r.labels.Get("instance"), "none")
	target := &ingest.Name{
		Resource:   strings.ReplaceAll(job+"@"+instance, "/", "_"),
		Metric:     strings.Clone(strings.ReplaceAll(name, "/", "_")), // no name of a metric has a slash
		Attributes: map[string]string{"job": strings.Clone(job), "instance": strings.Clone(instance)},
	}
	if len(target.Resource) > maxResourceLength {
		sum := sha256.Sum256([]byte(target.Resource))
		target.Resource = strings.ToValidUTF8(target.Resource[:maxResourceLength-33], "") + "~" +
			hex.EncodeToString(sum[:16])
	}
	return target, nil
}

// same reports whether two rows are of one series. Prometheus sends each measure as a row of its own, so that a series
// that is scraped often has several in a request. Gnocchi's mapping makes one metric of several series; of these one
// counts.
func (r *gnocchiRows) same(row, other int) bool {
	if r.readRow(row, &r.labels) == nil && r.readRow(other, &r.own) == nil && slices.Equal(r.labels, r.own) {
		return true
	}
	if r.collision == "" {
		if target, err := r.Name(row); err == nil {
			r.collision = target.Metric
		}
	}
	return false
}

// readRow reads the labels of a row.
func (r *WriteRequest) readRow(row int, dst *series.Labels) error {
	return r.readHead(r.LabelsOf(row), dst)
}
