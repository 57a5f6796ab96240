package records

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func FuzzDecodeMetric(f *testing.F) {
	policy := model.DefaultArchivePolicies()[0]
	find := func(name []byte) *model.ArchivePolicy {
		if string(name) == policy.Name {
			return policy
		}
		return nil
	}
	id, resource := uuid.New(), uuid.New()
	f.Add(AppendMetric(nil, &model.Metric{ArchivePolicy: policy}))
	f.Add(AppendMetric(nil, &model.Metric{ArchivePolicy: policy, Name: "cpu", Unit: "%", Creator: "u:p",
		ResourceID: &resource}))
	f.Add(AppendMetric(nil, &model.Metric{ArchivePolicy: policy, Deleted: true}))
	f.Add(AppendMetric(nil, &model.Metric{ArchivePolicy: policy, Type: model.CounterType}))
	f.Add(AppendMetric(nil, &model.Metric{ArchivePolicy: policy,
		Labels: model.Labels(model.AppendLabel(nil, "a", "b"))}))
	f.Fuzz(func(t *testing.T, value []byte) {
		m, err := DecodeMetric(id, value, find)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("error %v is no errCorrupt", err)
			}
			return
		}
		again, err := DecodeMetric(id, AppendMetric(nil, m), find)
		fatal.If(t, err)
		if !bytes.Equal(AppendMetric(nil, again), AppendMetric(nil, m)) || again.Name != m.Name ||
			again.Deleted != m.Deleted || again.Labels != m.Labels {
			t.Fatalf("%+v became %+v", m, again)
		}
	})
}
