package columns

import (
	"math"
	"sort"

	"github.com/prometheus/prometheus/util/kahansum"
)

// Window is a range (Start, End], its samples by their places, From up to To (exclusive), and the time of the query.
// First and Last are the shares of the first and the last sample in the range; if that is one sample, both are its.
type Window struct {
	From, To        int
	Start, End, Now int64
	First, Last     float64
}

// IsWhole reports whether a range has no part of a group.
func (w Window) IsWhole() bool { return w.First == 1 && w.Last == 1 }

// Share returns the share of a sample.
func (w *Window) Share(i int) float64 {
	switch i {
	case w.From:
		return w.First
	case w.To - 1:
		return w.Last
	}
	return 1
}

// begin returns since when a sample covers time.
func (s *Samples) begin(i int) int64 {
	if s.Begins == nil {
		return s.Times[i] - 1
	}
	return s.Begins[i]
}

// Cursor finds the windows of ranges. It is fast if they end in ascending order.
type Cursor struct {
	from, to int
	end      int64
}

// Window returns the window of a range, if that touches a sample.
func (c *Cursor) Window(s *Samples, start, end, now int64) (_ Window, ok bool) {
	times, begins := s.Times, s.Begins
	from, to := c.from, c.to
	if to == 0 || end < c.end {
		from = sort.Search(len(times), func(i int) bool { return times[i] > start })
		to = from
	}
	if begins == nil {
		for to < len(times) && times[to] <= end {
			to++
		}
	} else {
		for to < len(times) && begins[to] < end {
			to++
		}
	}
	for from < to && times[from] <= start {
		from++
	}
	c.from, c.to, c.end = from, to, end
	if begins == nil {
		return Window{from, to, start, end, now, 1, 1}, from < to
	}
	return s.window(from, to, start, end, now), from < to
}

func (s *Samples) window(from, to int, start, end, now int64) Window {
	w := Window{from, to, start, end, now, 1, 1}
	if from < to {
		w.First, w.Last = s.share(from, start, end), s.share(to-1, start, end)
	}
	return w
}

func (s *Samples) share(i int, start, end int64) float64 {
	width, inside := s.Times[i]-s.Begins[i], min(end, s.Times[i])-max(start, s.Begins[i])
	if inside == width {
		return 1
	}
	s.Cut = max(s.Cut, width)
	return float64(inside) / float64(width)
}

// Interpolate goes through the windows of whole groups that begin and end next to the bounds of w, with bilinear
// weights: the function is continuous in both bounds. From (x, x] there is nothing, and (y, x] is the opposite of (x,
// y]. add reports whether it knows the function over a window. Where it does not, the window counts as its share of the
// widest of them.
func (s *Samples) Interpolate(w Window, add func(w Window, weight float64) bool) (ok bool) {
	starts, ends := [2]int64{w.Start, w.Start}, [2]int64{w.End, w.End}
	var u, v float64 // how far both bounds are from the first of two
	if i := w.From; s.begin(i) < w.Start {
		starts = [2]int64{s.Begins[i], s.Times[i]}
		u = float64(w.Start-starts[0]) / float64(starts[1]-starts[0])
	}
	if i := w.To - 1; s.Times[i] > w.End {
		ends = [2]int64{s.begin(i), s.Times[i]}
		v = float64(w.End-ends[0]) / float64(ends[1]-ends[0])
	}
	widest := s.between(w, starts[0], ends[1])
	for i := range starts {
		for j := range ends {
			start, end, weight := starts[i], ends[j], math.Abs(1-float64(i)-u)*math.Abs(1-float64(j)-v)
			if start > end {
				start, end, weight = end, start, -weight
			}
			if start == end || weight == 0 {
				continue
			}
			if !add(s.between(w, start, end), weight) &&
				!add(widest, weight*float64(end-start)/float64(widest.End-widest.Start)) {
				return false
			}
		}
	}
	return true
}

// between returns the window of a range that divides no group, from the samples of w.
func (s *Samples) between(w Window, start, end int64) Window {
	out := Window{w.From, w.To, start, end, w.Now, 1, 1}
	for out.From < out.To && s.Times[out.From] <= start {
		out.From++
	}
	for out.From < out.To && s.begin(out.To-1) >= end {
		out.To--
	}
	return out
}

// Chosen returns the samples of a window that a function takes as they are. Extremes are those of all groups that the
// range touches. first_over_time prefers groups that begin in the range, and last_over_time the group that ended last,
// even if that is the one before. Other functions prefer groups that end in the range.
func (s *Samples) Chosen(function string, w Window) Window {
	last, several := w.To-1, w.To-w.From > 1
	switch plainName(function) {
	case "min_over_time", "max_over_time", "present_over_time", "absent_over_time", "sum_over_time", "avg_over_time",
		"stddev_over_time", "stdvar_over_time", "count_over_time":
	case "first_over_time":
		if several && s.begin(w.From) < w.Start {
			w.From++
		}
	case "last_over_time":
		open := s.Times[last] > w.End
		if before := last - 1; open && (several || last > 0 && s.Times[before] == s.begin(last)) {
			w.From, w.To = before, last
		}
	default:
		if several && s.Times[last] > w.End {
			w.To--
		}
	}
	return w
}

// overGroups returns a function over windows, of values that groups have, from the function of whole groups.
func (s *Samples) overGroups(function string, of func(Window) float64) func(Window) float64 {
	switch r := Rates[function]; {
	case r != nil:
		change := (&Rate{ofCounter: r.ofCounter}).windows(s.Values, func(i int) int64 { return s.Times[i] }, 0)
		return func(w Window) float64 {
			if w.IsWhole() {
				return of(w)
			}
			i := w.From
			short := w.To-i == 1 && w.End-w.Start < s.Times[i]-s.begin(i)
			if short && i > 0 && s.Times[i-1] == s.begin(i) { // one value says nothing without the one before
				start, end := s.begin(i-1), s.Times[i]
				by := change(Window{From: i - 1, To: i + 1, Start: start, End: end})
				return r.over(w, by*float64(w.End-w.Start)/float64(end-start))
			}
			return r.Interpolated(s, w, func(w Window) float64 {
				if w.From == w.To {
					return absent
				}
				return change(w)
			})
		}
	case function == "sum_over_time" || function == "count_over_time" || function == "avg_over_time" ||
		function == "stddev_over_time" || function == "stdvar_over_time":
		return func(w Window) float64 {
			if w.IsWhole() {
				return of(w)
			}
			return s.weighted(function, w)
		}
	}
	return func(w Window) float64 { return of(s.Chosen(function, w)) }
}

// weighted is a function of values that count by their shares.
func (s *Samples) weighted(function string, w Window) float64 {
	var count, total, lost float64
	for i := w.From; i < w.To; i++ {
		share := w.Share(i)
		count += share
		total, lost = kahansum.Inc(share*s.Values[i], total, lost)
	}
	if !math.IsInf(total, 0) {
		total += lost
	}
	switch function {
	case "sum_over_time":
		return total
	case "count_over_time":
		return count
	case "avg_over_time":
		return total / count
	}
	mean, squares := total/count, 0.0
	for i := w.From; i < w.To; i++ {
		squares += w.Share(i) * (s.Values[i] - mean) * (s.Values[i] - mean)
	}
	if function == "stddev_over_time" {
		return math.Sqrt(squares / count)
	}
	return squares / count
}

// Interpolated returns a rate from the changes over whole groups; absent if these have less than two measures.
func (r *Rate) Interpolated(s *Samples, w Window, change func(Window) float64) float64 {
	sum := 0.0
	ok := s.Interpolate(w, func(w Window, weight float64) bool {
		v := change(w)
		if isAbsent(v) {
			return false
		}
		sum += weight * v
		return true
	})
	if !ok {
		return absent
	}
	return r.over(w, sum)
}

// over returns a rate from the change over a window.
func (r *Rate) over(w Window, change float64) float64 {
	if r.perSecond {
		return change / (float64(w.End-w.Start) / 1000)
	}
	return change
}
