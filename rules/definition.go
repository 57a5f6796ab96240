package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/gnocco-db/gnocco/model"
)

// A Group is a group of a rule file, without its alerting rules.
type Group struct {
	Project string
	Creator string          // of the series
	Owner   json.RawMessage // whose rights count, as package rules/handlers reads it

	Name             string
	Interval, Offset common.Duration
	Limit            int
	Paused           bool // cells other than those that are due wait
	Rules            []*Rule
}

// A Rule is an expression whose results are recorded. Its labels are also those of its group.
type Rule struct {
	Record, Expr string
	Labels       map[string]string

	*Progress
	group  *Group
	inputs []input
	ahead  time.Duration // of a cell's time, for which the expression reads
	atOnce int           // cells in one query
}

// mostRules bounds the rules of a project.
const mostRules = 1000

// Parse reads a rule file, and names its alerting rules, which are left to others. An error names group and rule.
func Parse(text []byte, p parser.Parser) (groups []*Group, alerts []string, err error) {
	file, errs := rulefmt.Parse(text, false, common.UTF8Validation, p, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		var texts []string
		for _, err := range errs {
			texts = append(texts, strings.TrimPrefix(goTypes.ReplaceAllString(err.Error(), ""), "0:0: "))
		}
		return nil, nil, invalid("rule file: %s", strings.Join(slices.Compact(texts), "; "))
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if len(file.Groups) == 0 || documents.Decode(new(any)) == nil && documents.Decode(new(yaml.Node)) == nil {
		return nil, nil, invalid("rule file: it has no groups, or several documents")
	}
	for _, read := range file.Groups {
		g := &Group{Name: read.Name, Limit: read.Limit,
			Interval: cmp.Or(read.Interval, common.Duration(time.Minute))} // as in Prometheus
		if read.QueryOffset != nil {
			g.Offset = *read.QueryOffset
		}
		if g.every()%time.Second != 0 || g.Limit < 0 {
			return nil, nil, invalid("group %q: interval is no number of seconds, or limit is below 0", g.Name)
		}
		for i, one := range read.Rules {
			if one.Alert != "" {
				alerts = append(alerts, g.Name+"/"+one.Alert)
				continue
			}
			r := &Rule{Record: one.Record, Expr: one.Expr, Labels: map[string]string{}}
			maps.Copy(r.Labels, read.Labels)
			maps.Copy(r.Labels, one.Labels)
			if err := r.prepare(g, p); err != nil {
				return nil, nil, invalid("group %q, rule %d, %q: %v", g.Name, i+1, r.Record, err)
			}
			g.Rules = append(g.Rules, r)
		}
		groups = append(groups, g)
	}
	return groups, alerts, nil
}

// goTypes are the names in errors of yaml that say nothing to users.
var goTypes = regexp.MustCompile(` (into|in type) [\[\]*]*\w+\.\w+`)

func invalid(format string, args ...any) error {
	return &model.FieldError{Field: "rules", Reason: fmt.Sprintf(format, args...)}
}

func (g *Group) every() time.Duration { return time.Duration(g.Interval) }

// key is that of the group's document.
func (g *Group) key() string { return g.Project + "\x00" + g.Name }

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
	g.Paused = earlier.Paused
	for _, r := range g.Rules {
		i := slices.IndexFunc(rest, func(was *Rule) bool {
			return was.Record == r.Record && maps.Equal(was.Labels, r.Labels) && earlier.Creator == g.Creator
		})
		if i < 0 {
			continue
		}
		was := rest[i].Progress
		r.Series, r.Began, r.Strays = was.Series, was.Began, was.Strays
		if earlier.every()%g.every() != 0 {
			r.Strays = r.Strays.with(span{0, was.Next.Add(g.every())})
		}
		if rest[i].Expr == r.Expr && earlier.Interval == g.Interval && earlier.Limit == g.Limit {
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
