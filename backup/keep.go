package backup

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Keep says which backups stay when a new one is complete. The zero value keeps all.
type Keep []keptPeriods

// keptPeriods keeps the last backup of each of so many periods that have one.
type keptPeriods struct {
	count int
	of    func(time.Time) string // names the period of a moment
}

var periods = map[string]func(time.Time) string{
	"":  func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	"h": func(t time.Time) string { return t.Format("2006-01-02T15") },
	"d": func(t time.Time) string { return t.Format(time.DateOnly) },
	"w": func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprint(year, week) },
	"m": func(t time.Time) string { return t.Format("2006-01") },
	"y": func(t time.Time) string { return t.Format("2006") },
}

// ParseKeep reads what --keep says: 10 for the last ten, 7d,4w,12m for the last of each of seven days, four weeks and
// twelve months.
func ParseKeep(text string) (k Keep, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		digits := strings.TrimRight(part, "hdwmy")
		count, err := strconv.Atoi(digits)
		of := periods[part[len(digits):]]
		if err != nil || of == nil || count < 1 {
			return nil, fmt.Errorf("--keep has %q, which is no number of backups (10), hours (24h), days (7d), "+
				"weeks (4w), months (12m) or years (2y)", part)
		}
		k = append(k, keptPeriods{count, of})
	}
	return k, nil
}

// Kept returns the backups that stay, of all, the newest last.
func (k Keep) Kept(all []*Manifest) []*Manifest {
	if len(k) == 0 {
		return all
	}
	seen := make([]map[string]bool, len(k))
	for i := range seen {
		seen[i] = make(map[string]bool)
	}
	var kept []*Manifest
	for _, m := range slices.Backward(all) {
		keep := false
		for i, p := range k {
			name := p.of(m.Begun.UTC())
			if !seen[i][name] && len(seen[i]) < p.count {
				seen[i][name], keep = true, true
			}
		}
		if keep {
			kept = append(kept, m)
		}
	}
	slices.Reverse(kept)
	return kept
}

// forget removes those of a cluster's backups that do not stay, of all, the newest last. It returns those that do, how
// many are gone, and how many are of other clusters. These stay, unless one that was restored has taken their place. A
// backup that lacks something takes the place of another such one only.
func (r *Repository) forget(ctx context.Context, keep Keep, cluster string, all []*Manifest) (kept []*Manifest,
	gone, theirs int, err error) {
	others := slices.DeleteFunc(slices.Clone(all), func(m *Manifest) bool { return m.Cluster == cluster })
	if len(keep) > 0 && len(others) > 0 {
		replaced, err := r.replaced(ctx)
		if err != nil {
			return nil, 0, 0, err
		}
		others = slices.DeleteFunc(others, replaced)
	}
	var whole, partial []*Manifest
	for _, m := range all {
		switch {
		case slices.Contains(others, m):
		case m.isWhole():
			whole = append(whole, m)
		default:
			partial = append(partial, m)
		}
	}
	kept = slices.Concat(others, keep.Kept(whole), keep.Kept(partial))
	for _, m := range all {
		if !slices.Contains(kept, m) {
			if err := r.storage.Delete(ctx, manifestName(m.name)); err != nil {
				return nil, gone, len(others), err
			}
			gone++
		}
	}
	return kept, gone, len(others), nil
}
