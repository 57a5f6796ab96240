package index_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// TestListMetricsAgainstModel pages through random queries and compares with sorting a slice.
func TestListMetricsAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 1))
	s := open(t, index.Options{})
	defer closeStore(t, s)
	resources := []*model.Resource{newResource("a"), newResource("b")}
	for _, r := range resources {
		fatal.If(t, s.CreateResource(ctx, r, nil))
	}
	pick := func(values ...string) string { return values[rng.IntN(len(values))] }
	var all []*model.Metric
	for i := range 120 {
		m := newMetric(pick("low", "high", "medium"))
		m.Name, m.Unit, m.Creator = pick("", "cpu", "disk"), pick("", "%", "B"), pick("admin", "jd")
		if rng.IntN(2) == 0 {
			m.Name, m.ResourceID = fmt.Sprintf("n%d", i), &resources[rng.IntN(2)].ID
		} else if rng.IntN(2) == 0 {
			m.Labels = model.Labels(model.AppendLabel(model.AppendLabel(nil, "job", pick("node", "web")),
				"n", fmt.Sprint(i)))
		}
		all = append(all, m)
	}
	fatal.If(t, s.CreateMetrics(ctx, all))
	for _, m := range all {
		if rng.IntN(4) == 0 {
			fatal.If(t, s.DeleteMetric(ctx, m.ID))
			m.Deleted, m.ResourceID = true, nil
		}
	}

	optional := func(values ...string) *string {
		if rng.IntN(3) > 0 {
			return nil
		}
		v := pick(values...)
		return &v
	}
	keys := []string{"id", "name", "unit", "creator", "archive_policy_name", "resource_id", "status"}
	for range 300 {
		q := index.MetricQuery{
			Name: optional("cpu", "disk"), Unit: optional("%"), Creator: optional("jd", "admin"),
			ArchivePolicyName: optional("low", "high", "none"), Deleted: rng.IntN(4) == 0,
			Limit: rng.IntN(12),
		}
		if rng.IntN(10) == 0 {
			q.ID = &all[rng.IntN(len(all))].ID
		}
		if rng.IntN(4) == 0 {
			q.Visible = func(m *model.Metric) bool { return m.ID[0]%2 == 0 }
		}
		if rng.IntN(3) == 0 {
			q.Labels = map[string]string{"job": pick("node", "web", ""), "none": ""}
		}
		for range rng.IntN(3) {
			q.Sort = append(q.Sort, index.SortKey{Key: keys[rng.IntN(len(keys))], Descending: rng.IntN(2) == 0,
				Nulls: metrics.NullOrder(rng.IntN(3))})
		}
		want := expected(all, q)
		var got []uuid.UUID
		for range len(all) + 1 {
			page, err := s.ListMetrics(ctx, q)
			fatal.If(t, err)
			for _, m := range page {
				got = append(got, m.ID)
			}
			if q.Limit == 0 || len(page) < q.Limit {
				break
			}
			q.Marker = page[len(page)-1].ID
		}
		if !slices.Equal(got, want) {
			t.Fatalf("query %+v: got %d metrics %v, want %d %v", q, len(got), got, len(want), want)
		}
	}
}

func expected(all []*model.Metric, q index.MetricQuery) []uuid.UUID {
	is := func(want *string, have string) bool { return want == nil || *want == have }
	var kept []*model.Metric
	for _, m := range all {
		if m.Deleted == q.Deleted && is(q.Name, m.Name) && is(q.Unit, m.Unit) && is(q.Creator, m.Creator) &&
			is(q.ArchivePolicyName, m.ArchivePolicy.Name) && (q.ID == nil || *q.ID == m.ID) &&
			(q.Labels == nil || m.Labels != "" && m.Labels.Get("job") == q.Labels["job"]) &&
			(q.Visible == nil || q.Visible(m)) {
			kept = append(kept, m)
		}
	}
	text := func(m *model.Metric, key string) string {
		switch key {
		case "id":
			return m.ID.String()
		case "name":
			return m.Name
		case "unit":
			return m.Unit
		case "creator":
			return m.Creator
		case "archive_policy_name":
			return m.ArchivePolicy.Name
		case "resource_id":
			if m.ResourceID == nil {
				return ""
			}
			return m.ResourceID.String()
		}
		return "" // status: the same for all
	}
	slices.SortFunc(kept, func(a, b *model.Metric) int {
		for _, k := range q.Sort {
			x, y := text(a, k.Key), text(b, k.Key)
			if (x == "") != (y == "") {
				last := k.Nulls == index.NullsLast || k.Nulls == index.NullsDefault && !k.Descending
				if (x == "") == last {
					return 1
				}
				return -1
			}
			if c := strings.Compare(x, y); c != 0 && k.Descending {
				return -c
			} else if c != 0 {
				return c
			}
		}
		return cmp.Compare(a.ID.String(), b.ID.String())
	})
	var ids []uuid.UUID
	for _, m := range kept {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestListMetricsRefuses(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	_, err := s.ListMetrics(ctx, index.MetricQuery{Sort: []index.SortKey{{Key: "invalid"}}})
	wantIs(t, err, model.ErrInvalid)
	if want := "Invalid pagination: `Sort key supplied is invalid: invalid'"; err.Error() != want {
		t.Errorf("text %q, want %q", err, want)
	}
	_, err = s.ListMetrics(ctx, index.MetricQuery{Marker: uuid.New()})
	wantIs(t, err, model.ErrInvalid)
}
