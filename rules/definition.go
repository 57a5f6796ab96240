package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/gnocco-db/gnocco/model"
)

// A Group is a group of a rule file, without its alerting rules.
type Group struct {
	Project string          `yaml:"-"`
	Creator string          `yaml:"-"` // of the series
	Owner   json.RawMessage `yaml:"-"` // whose rights count, as package rules/handlers reads it

	Name     string
	Interval common.Duration
	Offset   common.Duration `yaml:"query_offset"`
	Limit    int
	Labels   map[string]string `json:"-"` // those of the rules have them
	Rules    []*Rule
}

// A Rule is an expression whose results are recorded.
type Rule struct {
	Record, Expr string
	Labels       map[string]string
	Alert        string         `json:"-"`
	OfAlerts     map[string]any `json:"-" yaml:",inline"` // other fields

	*Progress `yaml:"-"`
	group     *Group
	inputs    []input
	ahead     time.Duration // of a cell's time, for which the expression reads
	atOnce    int           // cells in one query
}

// mostRules bounds the rules of a project.
const mostRules = 1000

// Parse reads a rule file, and names its alerting rules, which are left to others. An error names group and rule.
func Parse(text []byte, p parser.Parser) (groups []*Group, alerts []string, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	for {
		var document struct{ Groups []*Group }
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) && len(groups) > 0 {
			break
		} else if errors.Is(err, io.EOF) {
			return nil, nil, invalid("rule file: it has no groups")
		} else if err != nil {
			return nil, nil, invalid("rule file: %v", err)
		}
		groups = append(groups, document.Groups...)
	}
	names := map[string]bool{}
	for i, g := range groups {
		if g == nil || g.Name == "" || names[g.Name] {
			return nil, nil, invalid("group %d: each group needs a name of its own", i+1)
		}
		names[g.Name] = true
		g.Interval = cmp.Or(g.Interval, common.Duration(time.Minute)) // as in Prometheus
		if g.every()%time.Second != 0 || g.Limit < 0 {
			return nil, nil, invalid("group %q: interval is no number of seconds, or limit is below 0", g.Name)
		}
		var recording []*Rule
		for i, r := range g.Rules {
			r = cmp.Or(r, new(Rule))
			if err := r.check(g, p); err != nil {
				return nil, nil, invalid("group %q, rule %d, %q: %v", g.Name, i+1, r.Record+r.Alert, err)
			} else if r.Alert != "" {
				alerts = append(alerts, g.Name+"/"+r.Alert)
				continue
			}
			recording = append(recording, r)
		}
		g.Rules = recording
	}
	return groups, alerts, nil
}

func invalid(format string, args ...any) error {
	return &model.FieldError{Field: "rules", Reason: fmt.Sprintf(format, args...)}
}

func (g *Group) every() time.Duration { return time.Duration(g.Interval) }

// key is that of the group's document.
func (g *Group) key() string { return g.Project + "\x00" + g.Name }

// check checks a rule of a file, and gives it the labels of its group.
func (r *Rule) check(g *Group, p parser.Parser) error {
	labels := map[string]string{}
	maps.Copy(labels, g.Labels)
	maps.Copy(labels, r.Labels)
	r.Labels = labels
	for name, value := range labels {
		if !common.UTF8Validation.IsValidLabelName(name) || name == model.LabelName ||
			!common.LabelValue(value).IsValid() {
			return fmt.Errorf("label %q is not one that a rule may set", name)
		}
	}
	switch {
	case (r.Record == "") == (r.Alert == ""):
		return errors.New("one of record and alert is needed")
	case r.Alert == "" && len(r.OfAlerts) > 0:
		return fmt.Errorf("recording rules have no fields %q", slices.Sorted(maps.Keys(r.OfAlerts)))
	case r.Alert == "" && !common.UTF8Validation.IsValidMetricName(r.Record):
		return errors.New("record is not a name of series")
	}
	return r.prepare(g, p)
}

// prepare finds out what the expression of a rule reads.
func (r *Rule) prepare(g *Group, p parser.Parser) error {
	expr, err := p.ParseExpr(r.Expr)
	if err != nil {
		return fmt.Errorf("expr: %w", err)
	}
	if t := expr.Type(); t != parser.ValueTypeVector && t != parser.ValueTypeScalar {
		return fmt.Errorf("expr is a %s, and only vectors and scalars are recorded", parser.DocumentedType(t))
	}
	r.group, r.ahead = g, 0
	r.inputs, err = inputsOf(expr)
	for _, in := range r.inputs {
		r.ahead = max(r.ahead, -in.shift)
	}
	return err
}

// goOn lets the rules of a group go on where those of an earlier one of its name were: a rule that records the same has
// its metrics, and one that also computes the same its progress.
func (g *Group) goOn(earlier *Group) {
	rest := slices.Clone(earlier.Rules)
	for _, r := range g.Rules {
		i := slices.IndexFunc(rest, func(was *Rule) bool {
			return was.Record == r.Record && maps.Equal(was.Labels, r.Labels) && earlier.Creator == g.Creator
		})
		if i < 0 {
			continue
		}
		was := rest[i].Progress
		if r.Series = was.Series; rest[i].Expr == r.Expr && earlier.Interval == g.Interval && earlier.Limit == g.Limit {
			r.Progress = was
		}
		rest = slices.Delete(rest, i, i+1)
	}
}

// inOrder sorts the rules of groups so that each comes after those of its project whose results it reads, else as they
// are. An error names a rule that reads its own results, or one too many.
func inOrder(groups map[string]*Group) (ordered []*Rule, err error) {
	var all []*Rule
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, groups[key].Rules...)
	}
	done := make(map[*Rule]bool, len(all)) // false: being visited
	ofProject := map[string]int{}
	var visit func(r *Rule) error
	visit = func(r *Rule) error {
		if is, seen := done[r]; is {
			return nil
		} else if seen {
			return invalid("group %q, rule %q: it reads its own results", r.group.Name, r.Record)
		}
		done[r] = false
		for _, other := range all {
			if other.group.Project == r.group.Project && slices.ContainsFunc(r.inputs, other.feeds) {
				if err := visit(other); err != nil {
					return err
				}
			}
		}
		done[r], ordered = true, append(ordered, r)
		return nil
	}
	for _, r := range all {
		if ofProject[r.group.Project]++; ofProject[r.group.Project] > mostRules {
			return nil, invalid("group %q, rule %q: a project has at most %d rules", r.group.Name, r.Record, mostRules)
		} else if err := visit(r); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}
