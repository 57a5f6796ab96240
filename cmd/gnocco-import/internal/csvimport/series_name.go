package csvimport

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/model"
)

// seriesName says which metric measures belong to: one of a resource, or the series with labels.
type seriesName struct {
	resource, name string
	labels         string // of a series, its name aside, as {a="b"}; "" for a metric of a resource
}

func (s seriesName) String() string {
	if s.labels != "" {
		return s.name + s.labels
	}
	return s.name
}

// maxName is the most characters that a server takes of a metric's name, and maxLabels the most bytes of labels.
const (
	maxName   = 255
	maxLabels = 16 << 10
)

// check returns an error if no server would take the name.
func (s seriesName) check() error {
	if utf8.RuneCountInString(s.name) > maxName {
		return fmt.Errorf("the name of metric %.40s… is longer than %d characters", s.name, maxName)
	}
	if !utf8.ValidString(s.name) || !utf8.ValidString(s.resource) {
		return fmt.Errorf("the name of metric %q is not in UTF-8", s.name)
	}
	if s.labels != "" && s.name == "" {
		return fmt.Errorf("series %s has no name", s.labels)
	}
	// As text, labels are a little longer, and bytes that are no characters stand there as \xff.
	if len(s.name)+len(s.labels) > maxLabels || strings.Contains(s.labels, `\x`) {
		var encoded []byte
		labels, err := s.labelMap()
		for name, value := range labels {
			if encoded = model.AppendLabel(encoded, name, value); !utf8.ValidString(name) || !utf8.ValidString(value) {
				return fmt.Errorf("the labels of series %.40s%.100s are not in UTF-8", s.name, s.labels)
			}
		}
		if err != nil || len(encoded) > maxLabels {
			return fmt.Errorf("the labels of series %.40s%.100s… are longer than %d bytes", s.name, s.labels, maxLabels)
		}
	}
	return nil
}

// withLabels is the series with these labels, its name among them. Empty ones do not count.
func withLabels(labels map[string]string) seriesName {
	others := make(map[string]string, len(labels))
	for name, value := range labels {
		if name != nameLabel && value != "" {
			others[name] = value
		}
	}
	return seriesName{name: labels[nameLabel], labels: series.Text(others)}
}

// labelMap returns the labels of a series.
func (s seriesName) labelMap() (map[string]string, error) {
	labels, err := parseSeries(s.labels)
	if err == nil {
		labels[nameLabel] = s.name
	}
	return labels, err
}

// nameLabel is the label that holds a series' name.
const nameLabel = "__name__"

var errSeriesText = errors.New("is no series such as name{label=\"value\"}")

// parseSeries reads a series as PromQL writes it, name{label="value"}: the labels, the name among them.
func parseSeries(text string) (map[string]string, error) {
	name, rest, braces := strings.Cut(text, "{")
	labels := make(map[string]string)
	if name != "" {
		labels[nameLabel] = name
	}
	if !braces {
		return labels, nil
	}
	for rest != "}" {
		label, more, ok := strings.Cut(rest, "=")
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			label, _ = strconv.Unquote(quoted)
			more, ok = strings.CutPrefix(rest[len(quoted):], "=")
		}
		quoted, err := strconv.QuotedPrefix(more)
		if !ok || err != nil {
			return nil, errSeriesText
		}
		if labels[label], err = strconv.Unquote(quoted); err != nil {
			return nil, errSeriesText
		}
		rest = more[len(quoted):]
		if after, ok := strings.CutPrefix(rest, ","); ok {
			rest = after
		} else if rest != "}" {
			return nil, errSeriesText
		}
	}
	return labels, nil
}
