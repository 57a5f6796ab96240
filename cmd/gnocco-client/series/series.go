package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/internal/client"
)

// SelectorHelp says what a SELECTOR is.
const SelectorHelp = `A SELECTOR is the name of metrics, RESOURCE/NAME, a resource, the ID of a metric, or a selector in PromQL
such as up{job="node"}.`

// selector returns what an argument means in PromQL. Of a resource it means only the metric called name, unless that
// is "": PromQL may have another name for it.
func selector(text string) (match, name string) {
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

// Series is a metric of a server.
type Series struct {
	ID, Policy     string
	ResourceID     string // "" for a metric without a resource
	Unit           string
	Kind           string            // type of its resource
	Resource, Name string            // as sent; Resource is "" for a metric without one
	SetType        string            // of its values, unless it is not known, or a guess
	Labels         map[string]string // without those above
}

// FromLabels takes what a list of series says of a metric beside its labels.
func FromLabels(labels map[string]string) *Series {
	s := &Series{ID: labels["metric_id"], Policy: labels["archive_policy"], Name: labels["metric_name"],
		ResourceID: labels["resource_id"], Unit: labels["metric_unit"], Kind: labels["resource_type"],
		SetType: labels["metric_type"], Labels: labels}
	s.Resource = cmp.Or(labels["original_resource_id"], s.ResourceID)
	for _, label := range []string{"metric_id", "archive_policy", "metric_name", "original_resource_id", "metric_unit",
		"resource_id", "metric_type", "metric_type_guess"} {
		delete(labels, label)
	}
	return s
}

// String returns the metric as people name it.
func (s *Series) String() string {
	if s.Resource != "" && s.Name != "" {
		return s.Resource + "/" + s.Name
	}
	if s.Name == "" && s.Labels["__name__"] == "" {
		return s.ID
	}
	return Text(s.Labels)
}

// Failed returns an error about the metric, with its name in place of its ID.
func (s *Series) Failed(err error) error { return &seriesError{err, s} }

type seriesError struct {
	err error
	of  *Series
}

func (e *seriesError) Error() string { return e.of.String() + ": " + e.err.Error() }
func (e *seriesError) Unwrap() error { return e.err }

// Message returns an error as people read it, with a metric's name instead of its ID.
func Message(err error) string {
	text := remote.Message(err)
	if of, ok := errors.AsType[*seriesError](err); ok {
		text = strings.ReplaceAll(text, of.of.ID, of.of.String())
	}
	return text
}

// Text returns labels as PromQL writes them.
func Text(labels map[string]string) string {
	var b strings.Builder
	name := labels["__name__"]
	plain := isPromName(name)
	if plain {
		b.WriteString(name)
	}
	var pairs []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if label != "__name__" || !plain && name != "" {
			pair := "=" + strconv.Quote(labels[label])
			if !isPromName(label) || strings.Contains(label, ":") {
				label = strconv.Quote(label)
			}
			pairs = append(pairs, label+pair)
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

// Find returns the metrics that selectors mean, in the order of their names. A selector without any metric is an error.
func Find(ctx context.Context, c *client.Client, selectors []string) ([]*Series, error) {
	if len(selectors) == 0 {
		selectors = []string{everything}
	}
	var all []*Series
	seen := make(map[string]bool)
	for _, text := range selectors {
		found, err := Matching(ctx, c, text)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			if !seen[s.ID] {
				seen[s.ID], all = true, append(all, s)
			}
		}
		if len(found) == 0 && text != everything {
			return nil, noMetric(ctx, c, text)
		}
	}
	slices.SortStableFunc(all, func(a, b *Series) int { return strings.Compare(a.String(), b.String()) })
	return all, nil
}

// Search is Find for those who look: a text that selects nothing means the metrics that have it in their name, an ID or
// the value of a label.
func Search(ctx context.Context, c *client.Client, selectors []string) ([]*Series, error) {
	selectors = slices.Clone(selectors)
	for i, text := range selectors {
		found, err := Matching(ctx, c, text)
		if err == nil && len(found) == 0 && !strings.Contains(text, "{") && strings.TrimSpace(text) != "" {
			words := fmt.Sprintf("{__any__=~%q}", "(?is).*"+regexp.QuoteMeta(text)+".*")
			if found, err = Matching(ctx, c, words); len(found) > 0 {
				selectors[i] = words
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return Find(ctx, c, selectors)
}

// Matching returns the metrics that a selector means, those of a resource where no metric has the name. A name may also
// have braces.
func Matching(ctx context.Context, c *client.Client, text string) (found []*Series, err error) {
	var refused error
	if strings.Contains(text, "{") {
		if found, refused = matching(ctx, c, text, ""); len(found) > 0 {
			return found, nil
		}
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	match, name := selector(text)
	tries := [][2]string{{match, name}, {fmt.Sprintf(`{original_resource_id=%q}`, text)}}
	if id, err := uuid.Parse(text); err == nil {
		tries = append(tries, [2]string{fmt.Sprintf(`{resource_id=%q}`, id)})
	}
	for _, try := range tries {
		if found, err = matching(ctx, c, try[0], try[1]); len(found) > 0 || err != nil {
			return found, err
		}
	}
	return nil, refused
}

// matching returns the metrics that a selector in PromQL lets through, only those with a name unless that is "".
func matching(ctx context.Context, c *client.Client, match, name string) (found []*Series, err error) {
	var answer struct {
		Data []map[string]string `json:"data"`
	}
	query := url.Values{"match[]": {match}, "ids": {"true"}}
	if err := c.Do(ctx, "GET", "/api/v1/series?"+query.Encode(), nil, &answer); err != nil {
		return nil, err
	}
	for _, labels := range answer.Data {
		if s := FromLabels(labels); name == "" || s.Name == name {
			found = append(found, s)
		}
	}
	return found, nil
}

// longestTyped is the length of a name that somebody may have mistyped: to compare longer ones takes long.
const longestTyped = 200

// noMetric returns the error of a selector that means nothing.
func noMetric(ctx context.Context, c *client.Client, text string) error {
	var names []string
	if len(text) < longestTyped {
		all, _ := matching(ctx, c, everything, "") // without, there is no hint
		for _, s := range all {
			names = append(names, s.Name)
			if at := strings.LastIndex(text, "/"); at > 0 { // else a name was meant
				names = append(names, s.String())
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	if hint := remote.DidYouMean(text, names); hint != "" {
		return fmt.Errorf("no metric is %s%s", text, hint)
	}
	if strings.TrimSpace(text) == "" {
		text = strconv.Quote(text)
	}
	return fmt.Errorf("no metric is %s (gnocco list metrics shows all)", text)
}
