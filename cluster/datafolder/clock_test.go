package datafolder_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A clock's file is read again, also one without a checksum; any flipped bit of one with a checksum is told, or changes
// nothing.
func TestClockFile(t *testing.T) {
	path := t.TempDir()
	folder, err := datafolder.Share(path)
	fatal.If(t, err)
	defer folder.Release()
	const origin = 1_795_370_000_123_456_789
	id, old := uuid.New(), uuid.New()
	file := filepath.Join(path, "clocks", id.String())
	ensure := func(id uuid.UUID) (int64, error) {
		_, since, err := folder.EnsureClock(id, origin+5)
		return since, err
	}
	if clock, got, err := folder.EnsureClock(id, origin); clock != id || got != origin || err != nil {
		t.Fatal(clock, got, err)
	}
	if err := os.WriteFile(filepath.Join(path, "clocks", old.String()), fmt.Appendln(nil, origin-1),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ensure(old); got != origin-1 || err != nil {
		t.Error(got, err)
	}
	content, err := os.ReadFile(file)
	fatal.If(t, err)
	for at := range content {
		for bit := range 8 {
			damaged := bytes.Clone(content)
			damaged[at] ^= 1 << bit
			fatal.If(t, os.WriteFile(file, damaged, 0o600))
			got, err := ensure(id)
			if err == nil && got != origin || err != nil && !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("bit %d of byte %d: %d, %v", bit, at, got, err)
			}
			if names, checkErr := folder.DamagedClocks(); checkErr != nil || (len(names) == 0) != (err == nil) {
				t.Errorf("bit %d of byte %d: DamagedClocks disagrees: %v, %v", bit, at, names, checkErr)
			}
		}
	}
}

// A damaged clock that was set aside, even twice, is followed by one with another ID, the same for all processes of the
// machine. Its stamps are not mistaken for the earlier clock's.
func TestClockIsSetAside(t *testing.T) {
	folder, err := datafolder.Share(t.TempDir())
	fatal.If(t, err)
	defer folder.Release()
	machine := uuid.New()
	seen := make(map[uuid.UUID]bool)
	for round := range int64(3) {
		clock, since, err := folder.EnsureClock(machine, round)
		if err != nil || since != round || seen[clock] {
			t.Fatal(clock, since, err)
		}
		seen[clock] = true
		if again, since, err := folder.EnsureClock(machine, 99); again != clock || since != round || err != nil {
			t.Error("another process of the machine has another clock", again, since, err)
		}
		fatal.If(t, os.WriteFile(filepath.Join(folder.Path, "clocks", clock.String()), []byte("x"), 0o600))
		names, err := folder.DamagedClocks()
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		fatal.If(t, folder.SetClockAside(names[0]))
		if names, err := folder.DamagedClocks(); err != nil || len(names) > 0 {
			t.Error(names, err)
		}
	}
}

// The greatest error found between two clocks is kept, in one file.
func TestClockErrorsAreKept(t *testing.T) {
	folder, err := datafolder.Share(t.TempDir())
	fatal.If(t, err)
	defer folder.Release()
	pair := datafolder.ClockPair{By: uuid.New(), Of: uuid.New()}
	back := datafolder.ClockPair{By: pair.Of, Of: pair.By}
	if _, _, err := folder.EnsureClock(pair.By, 1); err != nil {
		t.Fatal(err)
	}
	for _, far := range []time.Duration{5, 7, 6} {
		fatal.If(t, folder.KeepClockError(pair, far))
	}
	fatal.If(t, folder.KeepClockError(back, 3))
	want := map[datafolder.ClockPair]time.Duration{pair: 7, back: 3}
	if got, err := folder.ClockErrors(); err != nil || !maps.Equal(got, want) {
		t.Error(got, err)
	}
	if names, err := folder.DamagedClocks(); err != nil || len(names) > 0 {
		t.Error(names, err)
	}
}

// A pair of clocks goes once neither was in use for long, unless they are further apart than is assumed of an unknown
// pair.
func TestClockErrorsOfGoneMachines(t *testing.T) {
	folder, err := datafolder.Share(t.TempDir())
	fatal.If(t, err)
	defer folder.Release()
	used, gone, late, far := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	if _, _, err := folder.EnsureClock(used, 1); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	want := make(map[datafolder.ClockPair]time.Duration)
	keep := func(by, of uuid.UUID, apart time.Duration, at time.Time, stays bool) {
		t.Helper()
		pair := datafolder.ClockPair{By: by, Of: of}
		fatal.If(t, folder.KeepClockError(pair, apart))
		name := fmt.Sprintf("%s.%s.%d", by, of, apart)
		fatal.If(t, os.Chtimes(filepath.Join(folder.Path, "clocks", name), at, at))
		if stays {
			want[pair] = apart
		}
	}
	keep(used, gone, 3, old, true)
	keep(gone, used, 4, old, true)
	keep(gone, late, 5, old, false)
	keep(late, gone, 6, time.Now().Add(time.Hour), true)
	keep(gone, far, 11, old, true)
	for range 2 { // marked by the first, those in use are not old for the second
		inUse := func(clock uuid.UUID) bool { return clock == used }
		fatal.If(t, folder.TendClockErrors(inUse, time.Now().Add(-time.Minute), 10))
		if got, err := folder.ClockErrors(); err != nil || !maps.Equal(got, want) {
			t.Error(got, err)
		}
		used = uuid.Nil
	}
	if _, since, err := folder.EnsureClock(gone, 2); err != nil || since != 2 {
		t.Error(since, err)
	}
}

// The latest reading counts, also one of another machine or an earlier build, and a machine's earlier ones go. Readings
// change nothing but the machine's own folder.
func TestLatestReading(t *testing.T) {
	folder, err := datafolder.Share(t.TempDir())
	fatal.If(t, err)
	defer folder.Release()
	clocks := filepath.Join(folder.Path, "clocks")
	names := func(pattern string) []string {
		found, globErr := filepath.Glob(filepath.Join(clocks, pattern))
		err = errors.Join(err, globErr)
		return found
	}
	one, other := uuid.New(), uuid.New()
	_, _, err = folder.EnsureClock(one, 99)
	err = errors.Join(err, os.WriteFile(filepath.Join(clocks, "latest.4"), nil, 0o600))
	want := func(latest int64) {
		t.Helper()
		if found, latestErr := folder.LatestReading(); found != latest || errors.Join(err, latestErr) != nil {
			t.Errorf("the latest reading is %d, not %d: %v", found, latest, errors.Join(err, latestErr))
		}
	}
	want(4)
	err = errors.Join(err, folder.KeepReading(one, 3), folder.KeepReading(other, 1))
	want(4)
	shared := append(names("*"), names("latest.*/*")...) // folders that a listing of clocks brings into a cache
	for _, at := range []int64{5, 13, 7} {
		err = errors.Join(err, folder.KeepReading(other, at))
	}
	err = errors.Join(err, folder.DropReadings(other, 13))
	want(13)
	if now := append(names("*"), names("latest.*/*")...); !slices.Equal(shared, now) {
		t.Errorf("shared folders have changed: %v, %v", shared, now)
	}
	if kept := names("latest.*/readings/*"); len(kept) != 2 { // 3 of one, and 13 of the other
		t.Errorf("kept: %v", kept)
	}
}
