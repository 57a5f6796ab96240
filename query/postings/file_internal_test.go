package postings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// population changes an index step by step, each time in another way.
type population struct {
	t     testing.TB
	store *index.Store
	steps int
	name  string
	alive []*model.Metric
	hosts []uuid.UUID
}

func (p *population) step() {
	p.t.Helper()
	n, ctx := p.steps, p.t.Context()
	p.steps++
	policy, err := p.store.ArchivePolicy("low")
	fatal.If(p.t, err)
	switch n % 5 {
	case 0, 2: // series that were pushed
		var series []*model.Metric
		for i := range 5 {
			name := fmt.Sprint("m", i%2)
			text := model.AppendLabel(nil, []byte("__name__"), []byte(name))
			if i > 0 { // one has no other label
				text = model.AppendLabel(text, []byte("job"), []byte("node"))
				text = model.AppendLabel(text, []byte("pod"), []byte(fmt.Sprint("pod", n, i)))
			}
			series = append(series, &model.Metric{Name: name, Labels: model.Labels(text), ArchivePolicy: policy,
				Creator: fmt.Sprint("me", n, p.name)})
		}
		fatal.If(p.t, p.store.CreateMetrics(ctx, series))
		p.alive = append(p.alive, series...)
	case 1: // a resource
		project := fmt.Sprint("project", n)
		r := &model.Resource{ID: uuid.New(), Type: model.GenericType, Creator: "me", ProjectID: &project}
		r.OriginalID = fmt.Sprint("host", n)
		metrics := []*model.Metric{{Name: "cpu", ArchivePolicy: policy, Creator: "me", Unit: "s"},
			{Name: "load", ArchivePolicy: policy, Creator: "me"}}
		fatal.If(p.t, p.store.CreateResource(ctx, r, metrics))
		p.hosts = append(p.hosts, r.ID)
	case 3: // metrics that go, one of a resource, and one without labels
		fatal.If(p.t, p.store.DeleteMetric(ctx, p.alive[0].ID))
		p.alive = p.alive[1:]
		m, err := p.store.MetricOfResource(p.hosts[len(p.hosts)-1], "load")
		fatal.If(p.t, err)
		fatal.If(p.t, p.store.DeleteMetric(ctx, m.ID))
		fatal.If(p.t, p.store.CreateMetrics(ctx, []*model.Metric{{ArchivePolicy: policy, Creator: "me"}}))
	case 4:
		if len(p.hosts) > 1 {
			fatal.If(p.t, p.store.DeleteResource(ctx, model.GenericType, p.hosts[0], nil))
			p.hosts = p.hosts[1:]
		}
	}
}

// answers is what a catalog answers to all kinds of questions.
func answers(t testing.TB, c *Catalog) string {
	t.Helper()
	ctx, text := t.Context(), ""
	for _, m := range []*labels.Matcher{
		labels.MustNewMatcher(labels.MatchEqual, "no", ""), labels.MustNewMatcher(labels.MatchEqual, "__name__", "m1"),
		labels.MustNewMatcher(labels.MatchEqual, "job", "node"), labels.MustNewMatcher(labels.MatchRegexp, "pod", "pod.*3"),
		labels.MustNewMatcher(labels.MatchEqual, "project_id", "project1"),
		labels.MustNewMatcher(labels.MatchRegexp, "resource_id", ".+"),
	} {
		found, err := c.Labels(ctx, nil, 0, true, []*labels.Matcher{m})
		fatal.If(t, err)
		lines := make([]string, len(found))
		for i := range found {
			lines[i] = found[i].String()
		}
		slices.Sort(lines)
		text += fmt.Sprintln(m, lines)
	}
	for _, name := range []string{"__name__", "pod", "job", "metric_id", "resource_id", "unit", "project_id"} {
		values, err := c.Values(ctx, nil, name)
		fatal.If(t, err)
		text += fmt.Sprintln(name, values)
	}
	names, err := c.Names(ctx, nil)
	fatal.If(t, err)
	statistics, err := c.Statistics(ctx, nil, 100)
	fatal.If(t, err)
	return text + fmt.Sprintln(names, *statistics)
}

// withoutFile is a catalog that is read from the index.
func withoutFile(store *index.Store) *Catalog {
	c := New(store, Options{Bytes: 8 << 20})
	c.file.tried = true
	return c
}

// writing is a catalog that writes its file after each change.
func writing(store *index.Store) *Catalog {
	c := New(store, Options{Bytes: 8 << 20})
	c.file.least = 1
	return c
}

// settle waits until a catalog has written its file, and lets it write the next one.
func (c *Catalog) settle() {
	for {
		c.mu.Lock()
		if !c.file.writing {
			c.file.written = time.Time{}
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		runtime.Gosched()
	}
}

// fromFileAlone is an index that does not list what it has.
type fromFileAlone struct {
	*index.Store
	listed bool
}

func (f *fromFileAlone) EachMetric(ctx context.Context, do func(*model.Metric)) error {
	f.listed = true
	return f.Store.EachMetric(ctx, do)
}

func openIndex(t testing.TB, fs vfs.FS) *index.Store {
	t.Helper()
	store, err := index.Open("index", index.Options{FS: fs})
	fatal.If(t, err)
	return store
}

// A catalog that begins with the file of another one answers as if it had read the index, also after more changes.
func TestFileOfCatalog(t *testing.T) {
	fs := vfs.NewMem()
	store := openIndex(t, fs)
	p := &population{t: t, store: store}
	for round := range 12 {
		for range 3 {
			p.step()
		}
		writer := writing(store)
		answers(t, writer)
		writer.settle()
		for range round % 4 {
			p.step()
		}
		if round%2 > 0 {
			fatal.If(t, store.Close())
			store = openIndex(t, fs)
			p.store = store
		}
		for range round % 3 {
			p.step()
		}
		only := &fromFileAlone{Store: store}
		reader := New(only, Options{Bytes: 8 << 20})
		if got, want := answers(t, reader), answers(t, withoutFile(store)); got != want {
			t.Fatalf("round %d: with the file\n%s\nwithout\n%s", round, got, want)
		}
		if only.listed {
			t.Errorf("round %d: the file is not used", round)
		}
		p.step()
		if got, want := answers(t, reader), answers(t, withoutFile(store)); got != want {
			t.Fatalf("round %d, changed: with the file\n%s\nwithout\n%s", round, got, want)
		}
	}
	fatal.If(t, store.Close())
}

// A damaged or cut file is not used.
func TestDamagedFile(t *testing.T) {
	fs := vfs.NewMem()
	store := openIndex(t, fs)
	p := &population{t: t, store: store}
	for range 9 {
		p.step()
	}
	writer := writing(store)
	want := answers(t, writer)
	writer.settle()
	file, size, err := store.OpenDerived(fileName)
	fatal.If(t, err)
	whole, err := io.ReadAll(file)
	fatal.If(t, errors.Join(err, file.Close()))
	if int64(len(whole)) != size {
		t.Fatalf("%d bytes of %d", len(whole), size)
	}
	f := func(name string, content []byte) {
		t.Helper()
		fatal.If(t, store.WriteDerived(fileName, func(w io.Writer) error { _, err := w.Write(content); return err }))
		only := &fromFileAlone{Store: store}
		if got := answers(t, New(only, Options{Bytes: 8 << 20})); got != want || !only.listed {
			t.Errorf("%s: answers are\n%s\nwant\n%s", name, got, want)
		}
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/300 {
		damaged := slices.Clone(whole)
		damaged[i] ^= 1 << (i % 8)
		f(fmt.Sprint("a bit of byte ", i), damaged)
		f(fmt.Sprint(i, " bytes"), whole[:i])
	}
	f("a byte more", append(slices.Clone(whole), 0))
	fatal.If(t, store.Close())
}

// A file of changes that the index has lost, because an older one came back, is not used.
func TestFileOfALostFuture(t *testing.T) {
	fs := vfs.NewCrashableMem()
	store := openIndex(t, fs)
	p := &population{t: t, store: store}
	for range 6 {
		p.step()
	}
	old := fs.CrashClone(vfs.CrashCloneCfg{})
	p.step()
	writer := writing(store)
	answers(t, writer)
	writer.settle()
	file, _, err := store.OpenDerived(fileName)
	fatal.If(t, err)
	future, err := io.ReadAll(file)
	fatal.If(t, errors.Join(err, file.Close(), store.Close()))

	store = openIndex(t, old)
	fatal.If(t, store.WriteDerived(fileName, func(w io.Writer) error { _, err := w.Write(future); return err }))
	p = &population{t: t, store: store, steps: 6, name: "again"} // the next step has as many changes as the lost one
	for range 20 {                                               // numbers go on, and meet those of the file
		if got, want := answers(t, New(store, Options{Bytes: 8 << 20})), answers(t, withoutFile(store)); got != want {
			t.Fatalf("with the file of a lost future\n%s\nwant\n%s", got, want)
		}
		p.step()
	}
	fatal.If(t, store.Close())
}

// After a crash at any write to the disk a catalog answers as the index says.
func TestCrashesAroundTheFile(t *testing.T) {
	var mu sync.Mutex // guards crashes
	var crashes []*vfs.MemFS
	mem := vfs.NewCrashableMem()
	store := openIndex(t, errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			crashes = append(crashes, mem.CrashClone(vfs.CrashCloneCfg{}))
		}
		return nil
	})))
	p := &population{t: t, store: store}
	catalog := writing(store)
	for range 12 {
		p.step()
		answers(t, catalog)
		p.step() // while it is written
		catalog.settle()
	}
	fatal.If(t, store.Close())
	used := 0
	for at, fs := range crashes {
		store := openIndex(t, fs)
		only := &fromFileAlone{Store: store}
		c := New(only, Options{Bytes: 8 << 20})
		if got, want := answers(t, c), answers(t, withoutFile(store)); got != want {
			t.Fatalf("after a crash at write %d\n%s\nwant\n%s", at, got, want)
		}
		if !only.listed {
			used++
		}
		fatal.If(t, store.Close())
	}
	if used < len(crashes)/2 {
		t.Errorf("after %d crashes the file is used %d times", len(crashes), used)
	}
}

// A catalog that is kept reads nothing until somebody asks, or is expected to. From then on it follows the index, and
// its file follows too, also when changes have ended: a process that is killed leaves little to read.
func TestFollow(t *testing.T) {
	fs := vfs.NewMem()
	store := openIndex(t, fs)
	p := &population{t: t, store: store}
	for range 5 {
		p.step()
	}
	only := &fromFileAlone{Store: store}
	c := New(only, Options{Bytes: 8 << 20})
	c.file.least = 1
	fatal.If(t, c.Follow(t.Context(), false))
	if c.state != nil || only.listed {
		t.Error("labels are read though nobody asked")
	}
	fatal.If(t, c.Follow(t.Context(), true))
	c.settle()
	for range 3 {
		c.file.written = time.Now() // too short ago
		p.step()
		fatal.If(t, c.Follow(t.Context(), false))
		if _, _, last, _ := store.ChangesSince(0); c.state.last != last || c.file.unsaved == 0 {
			t.Errorf("change %d of %d, %d unsaved", c.state.last, last, c.file.unsaved)
		}
	}
	c.settle()
	fatal.If(t, c.Follow(t.Context(), false))
	c.settle()
	if c.file.unsaved > 0 {
		t.Errorf("%d changes are not in the file", c.file.unsaved)
	}
	want := answers(t, withoutFile(store))
	fatal.If(t, store.Close())
	store = openIndex(t, fs)
	next := &fromFileAlone{Store: store}
	if got := answers(t, New(next, Options{Bytes: 8 << 20})); got != want || next.listed {
		t.Errorf("from the file, listed %v\n%s\nwant\n%s", next.listed, got, want)
	}
	fatal.If(t, store.Close())
}
