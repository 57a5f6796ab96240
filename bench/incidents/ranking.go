package incidents

import (
	"cmp"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/anomaly"
)

// Score is how far a series moved, by some method.
type Score func(Series) float64

// BySeasons is the score of POST /v1/changes.
func BySeasons(s Series) float64 { return unusual(s, 1, 2, 3, 4, 5) }

// ByFourDays is BySeasons without the day of three days ago.
func ByFourDays(s Series) float64 { return unusual(s, 1, 2, 4, 5) }

// ByThreeDays is the score of archives that keep no week.
func ByThreeDays(s Series) float64 { return unusual(s, 1, 2, 3) }

// unusual compares with some of Days.
func unusual(s Series, earlier ...int) float64 {
	var days []*anomaly.Windows
	for _, i := range earlier {
		days = append(days, windowsOf(s, i))
	}
	score, _ := windowsOf(s, 0).Unusual(days)
	return score
}

// ByHourBefore is the score without earlier days.
func ByHourBefore(s Series) float64 { return windowsOf(s, 0).Score() }

func windowsOf(s Series, i int) *anomaly.Windows {
	if s.windows[i] == nil {
		s.windows[i] = anomaly.NewWindows(slices.Clone(s.Before[i]), slices.Clone(s.After[i]))
	}
	return s.windows[i]
}

// KolmogorovSmirnov is the largest distance between the distributions of both windows.
func KolmogorovSmirnov(s Series) float64 {
	before, after := slices.Sorted(slices.Values(s.Before[0])), slices.Sorted(slices.Values(s.After[0]))
	largest, i, j := 0.0, 0, 0
	for i < len(before) && j < len(after) {
		v := min(before[i], after[j])
		for i < len(before) && before[i] == v {
			i++
		}
		for j < len(after) && after[j] == v {
			j++
		}
		largest = max(largest, math.Abs(float64(i)/float64(len(before))-float64(j)/float64(len(after))))
	}
	return largest
}

// Judgement is what a method finds in one fleet.
type Judgement struct {
	Cause   bool // it is among the first three
	Effects int  // among the first twenty
	Highest float64
}

// Judge ranks the series of a fleet.
func (f *Fleet) Judge(score Score) Judgement {
	scores, order := make([]float64, len(f.Series)), make([]int, len(f.Series))
	for i, s := range f.Series {
		scores[i], order[i] = score(s), i
	}
	// The later series of equal scores comes first, so that none is found by its place.
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(b, a)) })
	j := Judgement{Highest: scores[order[0]]}
	for rank, i := range order[:min(20, len(order))] {
		if i == 0 && rank < 3 {
			j.Cause = true
		}
		if i > 0 && i <= Effects {
			j.Effects++
		}
	}
	return j
}
