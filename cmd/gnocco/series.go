package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
)

const selectorHelp = `A SELECTOR is the name of metrics, RESOURCE/NAME, a resource, the ID of a metric, or a selector in PromQL
such as up{job="node"}.`

// selector returns what an argument means in PromQL. Of a resource it means only the metric called name, unless that
// is "": PromQL may have another name for it.
func selector(text string) (match, name string) {
	if strings.Contains(text, "{") {
		return text, ""
	}
	if id, err := uuid.Parse(text); err == nil {
		return fmt.Sprintf(`{metric_id=%q}`, id), ""
	}
	if at := strings.LastIndex(text, "/"); at > 0 {
		return fmt.Sprintf(`{original_resource_id=%q}`, text[:at]), text[at+1:]
	}
	return fmt.Sprintf(`{__name__=%q}`, text), ""
}

// everything selects all metrics.
const everything = `{metric_id=~".+"}`

// foundSeries is a metric of a server.
type foundSeries struct {
	id, policy     string
	unit           string
	kind           string            // type of its resource
	resource, name string            // as sent; resource is "" for a metric without one
	setType        string            // of its values, unless it is not known, or a guess
	labels         map[string]string // without those above
}

// newFoundSeries takes what a list of series says of a metric beside its labels.
func newFoundSeries(labels map[string]string) *foundSeries {
	s := &foundSeries{id: labels["metric_id"], policy: labels["archive_policy"], name: labels["metric_name"],
		resource: labels["original_resource_id"], unit: labels["metric_unit"], kind: labels["resource_type"],
		setType: labels["metric_type"], labels: labels}
	if s.resource == "" {
		s.resource = labels["resource_id"]
	}
	for _, label := range []string{"metric_id", "archive_policy", "metric_name", "original_resource_id", "metric_unit",
		"resource_id", "metric_type", "metric_type_guess"} {
		delete(labels, label)
	}
	return s
}

// shown returns the metric as people name it.
func (s *foundSeries) shown() string {
	if s.resource != "" && s.name != "" {
		return s.resource + "/" + s.name
	}
	if s.name == "" && s.labels["__name__"] == "" {
		return s.id
	}
	return seriesText(s.labels)
}

// failed returns an error about the metric, with its name in place of its ID.
func (s *foundSeries) failed(err error) error { return &seriesError{err, s} }

type seriesError struct {
	err error
	of  *foundSeries
}

func (e *seriesError) Error() string { return e.of.shown() + ": " + e.err.Error() }
func (e *seriesError) Unwrap() error { return e.err }

// seriesText returns labels as PromQL writes them.
func seriesText(labels map[string]string) string {
	var b strings.Builder
	name := labels["__name__"]
	plain := isPromName(name)
	if plain {
		b.WriteString(name)
	}
	var pairs []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if label != "__name__" || !plain && name != "" {
			pairs = append(pairs, label+"="+strconv.Quote(labels[label]))
		}
	}
	if len(pairs) > 0 || !plain {
		b.WriteString("{" + strings.Join(pairs, ",") + "}")
	}
	return b.String()
}

// isPromName reports whether a name needs no quotes in PromQL.
func isPromName(name string) bool {
	for i, c := range name {
		if c != '_' && c != ':' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// find returns the metrics that selectors mean, in the order of their names. A selector without any metric is an error.
func find(ctx context.Context, c *client.Client, selectors []string) ([]*foundSeries, error) {
	if len(selectors) == 0 {
		selectors = []string{everything}
	}
	var all []*foundSeries
	seen := make(map[string]bool)
	for _, text := range selectors {
		found, err := matching(ctx, c, text)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			if !seen[s.id] {
				seen[s.id], all = true, append(all, s)
			}
		}
		if len(found) == 0 && text != everything {
			return nil, noMetric(ctx, c, text)
		}
	}
	slices.SortStableFunc(all, func(a, b *foundSeries) int { return strings.Compare(a.shown(), b.shown()) })
	return all, nil
}

// matching returns the metrics that a selector means, those of a resource where no metric has the name.
func matching(ctx context.Context, c *client.Client, text string) (found []*foundSeries, err error) {
	match, name := selector(text)
	matches := []string{match}
	if !strings.Contains(text, "{") {
		matches = append(matches, fmt.Sprintf(`{original_resource_id=%q}`, text))
	}
	for i := 0; i < len(matches) && len(found) == 0; i++ {
		var answer struct {
			Data []map[string]string `json:"data"`
		}
		query := url.Values{"match[]": {matches[i]}, "ids": {"true"}}
		if err := c.Do(ctx, "GET", "/api/v1/series?"+query.Encode(), nil, &answer); err != nil {
			return nil, err
		}
		for _, labels := range answer.Data {
			if s := newFoundSeries(labels); i > 0 || name == "" || s.name == name {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// noMetric returns the error of a selector that means nothing.
func noMetric(ctx context.Context, c *client.Client, text string) error {
	var names []string
	if all, err := find(ctx, c, nil); err == nil && text != everything {
		for _, s := range all {
			names = append(names, s.shown(), s.name)
		}
	}
	if hint := didYouMean(text, names); hint != "" {
		return fmt.Errorf("no metric is %s%s", text, hint)
	}
	return fmt.Errorf("no metric is %s (gnocco list metrics shows all)", text)
}

// A moment is the text of a time. Four digits are a year, and not seconds since 1970.
type moment string

// defineTime defines a flag that takes a time.
func defineTime(flags *pflag.FlagSet, p *string, name, value, usage string) {
	*p = value
	flags.Var((*moment)(p), name, usage)
}

func (m *moment) String() string { return string(*m) }
func (m *moment) Type() string   { return "string" }

// Set implements pflag.Value.
func (m *moment) Set(text string) error {
	if year, err := time.Parse("2006", text); err == nil {
		text = year.Format(time.RFC3339)
	}
	*m = moment(text)
	return nil
}

// readFlags say which aggregates are read.
type readFlags struct{ start, stop, method, granularity string }

func (f *readFlags) define(flags *pflag.FlagSet, start string) {
	defineTime(flags, &f.start, "start", start, "from this time on: a date and time, a year, seconds since 1970, or -1d")
	flags.Func("since", "from so long ago on, such as 1d: the same as --start -1d", func(text string) error {
		f.start = "-" + strings.TrimPrefix(text, "-")
		return nil
	})
	defineTime(flags, &f.stop, "stop", "", "before this time (default: all)")
	flags.StringVar(&f.method, "aggregation", "", "aggregation method (default: mean, else last, else the policy's first)")
	flags.StringVar(&f.granularity, "granularity", "", "granularity, such as 1h (default: the policy's finest)")
}

// reader reads aggregates from a server.
type reader struct {
	client   *client.Client
	flags    *readFlags
	policies map[string]*client.ArchivePolicy
}

func newReader(ctx context.Context, c *client.Client, flags *readFlags) (*reader, error) {
	all, err := c.ArchivePolicies(ctx)
	r := &reader{c, flags, make(map[string]*client.ArchivePolicy)}
	for i := range all {
		r.policies[all[i].Name] = &all[i]
	}
	return r, err
}

// method returns the aggregation method by which a metric is read.
func (r *reader) method(s *foundSeries) (string, error) {
	if r.flags.method != "" {
		return r.flags.method, nil
	}
	policy := r.policies[s.policy]
	if policy == nil {
		return "mean", nil
	}
	for _, method := range []string{"mean", "last"} {
		if slices.Contains(policy.Methods, method) {
			return method, nil
		}
	}
	if len(policy.Methods) == 0 {
		return "", fmt.Errorf("%s: its archive policy %s has no aggregation method", s.shown(), s.policy)
	}
	return policy.Methods[0], nil
}

// allGranularities is --granularity of all those of a metric's policy.
const allGranularities = "all"

// granularities returns those by which a metric is read, ascending: the finest of its policy, unless the flags say
// otherwise.
func (r *reader) granularities(s *foundSeries) (list []time.Duration, err error) {
	if wanted := r.flags.granularity; wanted != "" && wanted != allGranularities {
		granularity, err := model.ParseTimespan(wanted)
		if err != nil {
			return nil, fmt.Errorf("--granularity %q: %w", wanted, err)
		}
		return []time.Duration{granularity}, nil
	}
	if policy := r.policies[s.policy]; policy != nil {
		for _, item := range policy.Definition {
			granularity, err := model.ParseTimespan(item.Granularity)
			if err != nil {
				return nil, err
			}
			list = append(list, granularity)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: its archive policy %s is not known", s.shown(), s.policy)
	}
	slices.Sort(list)
	if r.flags.granularity == "" {
		list = list[:1]
	}
	return list, nil
}

// aggregates calls row with each aggregate of a metric at its finest granularity, or the one that the flags say.
func (r *reader) aggregates(ctx context.Context, s *foundSeries, row rowWriter) error {
	list, err := r.granularities(s)
	if err != nil {
		return err
	}
	return r.each(ctx, s, list[0], row)
}

// each calls row with each aggregate of a metric, as they arrive.
func (r *reader) each(ctx context.Context, s *foundSeries, granularity time.Duration, row rowWriter) error {
	method, err := r.method(s)
	if err != nil {
		return err
	}
	query := url.Values{"aggregation": {method}, "refresh": {"true"},
		"granularity": {strconv.FormatFloat(granularity.Seconds(), 'f', -1, 64)}}
	for key, value := range map[string]string{"start": r.flags.start, "stop": r.flags.stop} {
		if value != "" {
			query.Set(key, value)
		}
	}
	err = r.client.GetText(ctx, "/v1/metric/"+s.id+"/measures?"+query.Encode(), "text/csv", func(body io.Reader) error {
		lines := csv.NewReader(body)
		lines.ReuseRecord = true
		if _, err := lines.Read(); err != nil {
			return err
		}
		for {
			fields, err := lines.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			at, ok := model.ParseISO(fields[0])
			value, err := strconv.ParseFloat(fields[2], 64)
			if !ok || err != nil {
				return fmt.Errorf("the server answered %q", fields)
			}
			if err := row(at, fields[0], value); err != nil {
				return err
			}
		}
	})
	var answer *client.StatusError
	policy := r.policies[s.policy]
	if policy != nil && errors.As(err, &answer) && answer.Status == http.StatusNotFound {
		var kept []string
		for _, item := range policy.Definition {
			kept = append(kept, shortSpan(item.Granularity))
		}
		return fmt.Errorf("no %s of %s: archive policy %s keeps %s of %s", method, granularity, s.policy,
			strings.Join(policy.Methods, ", "), strings.Join(kept, ", "))
	}
	return err
}
