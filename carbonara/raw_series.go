package carbonara

import "slices"

// rawSeries is a raw series while its chunks are put together.
type rawSeries struct {
	timestamps []Timestamp
	values     []float64
	base       int // where the series begins in both; elements before it are the caller's
	keepFrom   Timestamp
	present    Timestamp // that of the youngest chunk
	replicas   bool
	since      Timestamp // earlier measures are left out
}

// decode adds the chunks of src, each over those before it.
func (r *rawSeries) decode(src []byte, s *scratch) error {
	for len(src) > 0 {
		c, rest, err := parseRaw(src)
		if err != nil {
			return err
		}
		src = rest
		if err := r.add(&c, s); err != nil {
			return err
		}
	}
	return nil
}

// add adds a chunk over those before it.
func (r *rawSeries) add(c *rawChunk, s *scratch) (err error) {
	r.keepFrom, r.present, r.replicas = max(r.keepFrom, c.keepFrom), c.present, r.replicas || c.replicas
	if c.n == 0 || c.last < r.since {
		return nil
	}
	n := len(r.timestamps)
	if r.timestamps, r.values, err = c.appendSince(r.since, r.timestamps, r.values, s); err != nil {
		return err
	}
	if n > r.base && r.timestamps[n] <= r.timestamps[n-1] {
		r.overlay(n, s)
	}
	return nil
}

// overlay merges the measures from index n on, which are newer operands but not later in time, into those before.
func (r *rawSeries) overlay(n int, s *scratch) {
	at, _ := slices.BinarySearch(r.timestamps[r.base:n], r.timestamps[n])
	at += r.base
	oldT := append(s.tailTimestamps[:0], r.timestamps[at:]...)
	oldV := append(s.tailValues[:0], r.values[at:]...)
	s.tailTimestamps, s.tailValues = oldT[:0], oldV[:0]
	newT, newV := oldT[n-at:], oldV[n-at:]
	oldT, oldV = oldT[:n-at], oldV[:n-at]
	r.timestamps, r.values = r.timestamps[:at], r.values[:at]
	for i, j := 0, 0; i < len(oldT) || j < len(newT); {
		if j == len(newT) || (i < len(oldT) && oldT[i] < newT[j]) {
			r.timestamps = append(r.timestamps, oldT[i])
			r.values = append(r.values, oldV[i])
			i++
			continue
		}
		if i < len(oldT) && oldT[i] == newT[j] {
			i++
		}
		r.timestamps = append(r.timestamps, newT[j])
		r.values = append(r.values, newV[j])
		j++
	}
}

// trim drops what keepFrom says is needed no longer, all before it but the newest, and what is before since.
func (r *rawSeries) trim() {
	kept, _ := slices.BinarySearch(r.timestamps[r.base:], r.keepFrom)
	asked, _ := slices.BinarySearch(r.timestamps[r.base:], r.since)
	drop := r.base + max(kept-1, asked)
	if drop <= r.base {
		return
	}
	r.timestamps = slices.Delete(r.timestamps, r.base, drop)
	r.values = slices.Delete(r.values, r.base, drop)
}
