package index

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
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
	f.Add(appendMetric(nil, &model.Metric{ArchivePolicy: policy}))
	f.Add(appendMetric(nil, &model.Metric{ArchivePolicy: policy, Name: "cpu", Unit: "%", Creator: "u:p",
		ResourceID: &resource}))
	f.Add(appendMetric(nil, &model.Metric{ArchivePolicy: policy, Deleted: true}))
	f.Add(appendMetric(nil, &model.Metric{ArchivePolicy: policy,
		Labels: model.Labels(model.AppendLabel(nil, "a", "b"))}))
	f.Fuzz(func(t *testing.T, value []byte) {
		m, err := decodeMetric(id, value, find)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("error %v is no errCorrupt", err)
			}
			return
		}
		again, err := decodeMetric(id, appendMetric(nil, m), find)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(appendMetric(nil, again), appendMetric(nil, m)) || again.Name != m.Name ||
			again.Deleted != m.Deleted || again.Labels != m.Labels {
			t.Fatalf("%+v became %+v", m, again)
		}
	})
}

func TestPrefixEnd(t *testing.T) {
	f := func(prefix, want []byte) {
		t.Helper()
		if got := prefixEnd(prefix); !bytes.Equal(got, want) {
			t.Errorf("prefixEnd(% x) = % x, want % x", prefix, got, want)
		}
	}
	f([]byte("m"), []byte("n"))
	f([]byte{'n', 0xff, 0xff}, []byte{'o'})
	f([]byte{0xff}, nil)
}
