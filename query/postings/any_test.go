package postings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A series is found by its name, an ID or a part of one, each label's value, and label=value, by all kinds of matchers
// and with either kind of names. Unit and archive policy tell no series apart.
func TestAny(t *testing.T) {
	store := openIndex(t)
	low, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	var known []string
	for i := range 12 {
		r := create(t, store, fmt.Sprintf("project-%d", i%3), fmt.Sprintf("web-00%d", i), "cpu", "memory.used")
		metric := &model.Metric{ID: uuid.New(), ArchivePolicy: low, Creator: "me", Unit: "B",
			Labels: model.Labels(model.AppendLabel(model.AppendLabel(nil, "__name__", fmt.Sprintf("up%d", i%4)), "instance",
				fmt.Sprintf("web-00%d:9100", i)))}
		fatal.If(t, store.CreateMetric(t.Context(), metric))
		known = append(known, r.ID.String(), metric.ID.String())
	}
	var all []labels.Labels
	for _, ceilometer := range []bool{false, true} {
		catalog := postings.New(store, postings.Options{Bytes: 1 << 20, Ceilometer: ceilometer})
		if !ceilometer {
			all, err = catalog.Labels(t.Context(), nil, 0, true)
			fatal.If(t, err)
		}
		ids := func(found []labels.Labels) (list []string) {
			for _, l := range found {
				list = append(list, l.Get("metric_id"))
			}
			slices.Sort(list)
			return list
		}
		f := func(kind labels.MatchType, value string, most int) {
			t.Helper()
			m := labels.MustNewMatcher(kind, postings.LabelAny, value)
			negative := kind == labels.MatchNotEqual || kind == labels.MatchNotRegexp
			var want []labels.Labels
			for _, l := range all {
				has := false
				l.Range(func(l labels.Label) {
					if !slices.Contains([]string{"metric_unit", "archive_policy"}, l.Name) {
						has = has || m.Matches(l.Value) != negative
					}
					if strings.Contains(value, "=") && slices.Contains([]string{"project_id", "resource_type", "instance"}, l.Name) {
						has = has || m.Matches(l.Name+"="+l.Value) != negative
					}
				})
				if has != negative {
					want = append(want, l)
				}
			}
			got, err := catalog.Labels(t.Context(), nil, 0, true, []*labels.Matcher{m})
			fatal.If(t, err)
			if !slices.Equal(ids(got), ids(want)) {
				t.Errorf("%v (Ceilometer's names: %v): %d series, want %d", m, ceilometer, len(got), len(want))
			}
			if !negative && (len(got) == 0) != (most == 0) || len(got) > most {
				t.Errorf("%v finds %d", m, len(got))
			}
		}
		for _, kind := range []labels.MatchType{labels.MatchEqual, labels.MatchNotEqual} {
			for i, id := range known {
				f(kind, id, map[bool]int{true: 2 - i%2, false: 36}[kind == labels.MatchEqual])
			}
			f(kind, "web-001", 36)
			f(kind, "instance=web-001:9100", 36)
			f(kind, "project_id=project-1", 36)
			f(kind, "low", map[bool]int{true: 0, false: 36}[kind == labels.MatchEqual])
		}
		for _, kind := range []labels.MatchType{labels.MatchRegexp, labels.MatchNotRegexp} {
			f(kind, "(?is).*WEB-001.*", 36)
			f(kind, "up[01]", 36)
			f(kind, "(?is)"+known[0][:13]+".*", 36)
			f(kind, ".*used", 36)
			bare := strings.ReplaceAll(known[0], "-", "")
			for _, text := range []string{"(?is).*" + bare + ".*", strings.ToUpper(bare) + "|x"} {
				m := labels.MustNewMatcher(kind, postings.LabelAny, text)
				same := strings.Replace(text, bare, known[0], 1)
				same = strings.Replace(same, strings.ToUpper(bare), strings.ToUpper(known[0]), 1)
				want, err := catalog.Labels(t.Context(), nil, 0, true,
					[]*labels.Matcher{labels.MustNewMatcher(kind, postings.LabelAny, same)})
				fatal.If(t, err)
				got, err := catalog.Labels(t.Context(), nil, 0, true, []*labels.Matcher{m})
				fatal.If(t, err)
				if !slices.Equal(ids(got), ids(want)) || text[0] == '(' && kind == labels.MatchRegexp && len(got) != 2 {
					t.Errorf("%v finds %d, %s %d", m, len(got), same, len(want))
				}
			}
			f(kind, "[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]x", map[bool]int{true: 0, false: 36}[kind == labels.MatchRegexp])
			f(kind, ".*"+strings.ToUpper(bare)[:31]+".*", map[bool]int{true: 0, false: 36}[kind == labels.MatchRegexp])
			f(kind, "(?is).*ID=project-[01].*", 36)
			f(kind, "(?is).*instance=web-00.*", 36)
			f(kind, "(?is)project-1=.*|type=.*", map[bool]int{true: 0, false: 36}[kind == labels.MatchRegexp])
			f(kind, "project-1|web-007:9100", 36)
			f(kind, ".*", 36)
		}
	}
}
