package archive

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// Sack says which of how many sacks a store is. The zero value is any.
type Sack struct{ Number, Of int }

func (s Sack) String() string { return fmt.Sprintf("sack %d of %d", s.Number, s.Of) }

// ErrOtherSack is the error of opening a store that is another sack than the expected one.
var ErrOtherSack = errors.New("the store is another sack")

// sackKey lies among the marks of incoming stores, whose names are UUIDs: so a program that does not know it verifies,
// keeps and copies it.
var sackKey = append([]byte{prefixStore, kindMark}, "sack"...)

// be returns an error if the store is another sack than want. A store that does not say yet which sack it is, and is
// none but want, says so from its next checkpoint on: a note by itself would be a table of its own, which makes Pebble
// compact those of checkpoints.
func (s *Store) be(want Sack, readOnly bool) error {
	value, err := engine.Get(s.db, sackKey)
	if err != nil {
		return err
	}
	if value == nil {
		if err := s.ownsFirstMetrics(want); err != nil || readOnly {
			return err
		}
		value := binary.BigEndian.AppendUint32(nil, uint32(want.Number))
		value = binary.BigEndian.AppendUint32(value, uint32(want.Of))
		s.unsaid.Store(&value)
		return nil
	}
	if len(value) != 8 {
		return fmt.Errorf("note of the sack has %d bytes", len(value))
	}
	is := Sack{int(binary.BigEndian.Uint32(value)), int(binary.BigEndian.Uint32(value[4:]))}
	if is != want {
		return fmt.Errorf("%w: %v, want %v", ErrOtherSack, is, want)
	}
	return nil
}

// metricsLookedAt bounds the metrics by which an older store is recognized: all metrics of a copy of another sack are
// foreign, so the first one tells.
const metricsLookedAt = 16

// ownsFirstMetrics returns an error if one of the first metrics in the store belongs to another sack.
func (s *Store) ownsFirstMetrics(want Sack) (err error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{prefixMetric},
		UpperBound: []byte{prefixMetric + 1}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	valid := iter.First()
	for n := 0; valid && n < metricsLookedAt; n++ {
		metric, _, _, ok := ParseKey(iter.Key())
		if sack := model.Sack(metric, want.Of); ok && sack != want.Number {
			return fmt.Errorf("%w: metric %s belongs to %v, not to %v", ErrOtherSack, metric, Sack{sack, want.Of}, want)
		}
		valid = iter.SeekGE(metricEnd(metric))
	}
	return iter.Error()
}
