package quota_test

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newBook(c *clock, measures int64) *quota.Book {
	b := &quota.Book{Now: c.now}
	b.Set(model.Quota{}, map[string]model.Quota{"p": {Measures: measures}})
	return b
}

// A project gets its quota in the long run, a burst of 5 s at most, and an error that says when to come again.
func TestCharge(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	b := newBook(c, 100)
	charge := func(n int64, want time.Duration) {
		t.Helper()
		err := b.Charge(quota.Measures, "p", n)
		var over *model.QuotaError
		if errors.As(err, &over); want == 0 && err != nil || want > 0 && (over == nil || over.After != want) {
			t.Fatalf("%d measures: %v, want to wait for %v", n, err, want)
		}
	}
	charge(500, 0)
	charge(1, 10*time.Millisecond)
	c.at = c.at.Add(time.Second)
	charge(60, 0)
	charge(50, 100*time.Millisecond)
	c.at = c.at.Add(time.Hour)
	charge(2000, 0) // more than a full balance
	c.at = c.at.Add(15 * time.Second)
	charge(1, 10*time.Millisecond)
	c.at = c.at.Add(time.Second)
	charge(100, 0)
	if rate := b.Rate(quota.Measures, "p"); rate != 10 {
		t.Errorf("%v measures a second, want 10: 100 of the last 10 s", rate)
	}
	b.Return(quota.Measures, "p", 100)
	charge(100, 0)
	if err := b.Charge(quota.Requests, "p", 1e9); err != nil {
		t.Errorf("requests without a quota: %v", err)
	}
	if err := b.Charge(quota.Measures, "other", 1e9); err != nil {
		t.Errorf("a project without a quota: %v", err)
	}
}

// Other processes' measures count once, whether reports are lost, repeated or come to another holder of the index.
func TestExchangeCountsOnce(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	holder, next, a := newBook(c, 1e6), newBook(c, 1e6), newBook(c, 1e6)
	send := func(n int64) {
		t.Helper()
		if err := a.Charge(quota.Measures, "p", n); err != nil {
			t.Fatal(err)
		}
	}
	want := func(b *quota.Book, n float64) {
		t.Helper()
		if rate := b.Rate(quota.Measures, "p"); rate != n/10 {
			t.Errorf("%v measures of the last 10 s, want %v", rate*10, n)
		}
	}
	send(10)
	holder.Add(a.Report()) // its answer is lost
	send(20)
	report := a.Report()
	send(5)
	a.Take(report, holder.Add(report))
	want(holder, 30)
	report = a.Report()
	a.Take(report, holder.Add(report))
	want(holder, 35)
	send(7)
	report = a.Report()
	a.Take(report, next.Add(report))
	want(next, 7)
	send(3) // and then it holds the index itself
	a.Counted()
	report = a.Report()
	a.Take(report, next.Add(report))
	want(next, 7)
}

// Usage is counted where there are no quotas, and a quota that comes later begins with a full balance.
func TestUsageWithoutQuotas(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	holder, a := &quota.Book{Now: c.now}, &quota.Book{Now: c.now}
	exchange := func() {
		report := a.Report()
		a.Take(report, holder.Add(report))
	}
	for range 2 {
		if err := a.Charge(quota.Measures, "p", 100); err != nil {
			t.Fatal(err)
		}
		exchange()
	}
	if rate := holder.Rate(quota.Measures, "p"); rate != 20 {
		t.Errorf("%v measures a second, want 20: 200 of the last 10 s", rate)
	}
	holder.Set(model.Quota{Measures: 100}, nil)
	exchange()
	for _, b := range []*quota.Book{holder, a} {
		if err := b.Charge(quota.Measures, "p", 500); err != nil {
			t.Errorf("a new quota: %v", err)
		}
	}
}

// Three processes that all send as much as they can get the quota together, whether a second has one report or none.
func TestProcessesShareAQuota(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	const most, seconds = 1000, 100
	holder := newBook(c, most)
	all := []*quota.Book{holder, newBook(c, most), newBook(c, most)}
	accepted := 0
	for range seconds * 10 {
		c.at = c.at.Add(100 * time.Millisecond)
		for i, b := range all {
			for b.Charge(quota.Measures, "p", 10) == nil {
				accepted += 10
			}
			if report := b.Report(); i > 0 && c.at.Nanosecond() == 0 {
				b.Take(report, holder.Add(report))
			}
		}
	}
	// Each process began with a burst, and may have used its share of the last second.
	if least, top := most*seconds, most*(seconds+3*5+3); accepted < least || accepted > top {
		t.Errorf("%d measures in %d s, want %d to %d", accepted, seconds, least, top)
	}
}

// The quotas reach the other processes with the answer, and so does their end.
func TestExchangeBringsQuotas(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	holder, a := newBook(c, 7), &quota.Book{Now: c.now}
	a.Take(a.Report(), holder.Add(a.Report()))
	if got := a.Of("p").Measures; got != 7 {
		t.Errorf("the quota is %d, want 7", got)
	}
	holder.Set(model.Quota{}, nil)
	a.Take(a.Report(), holder.Add(a.Report()))
	if got := a.Of("p"); got != (model.Quota{}) {
		t.Errorf("the quota is %+v, want none", got)
	}
	var none *quota.Book
	if err := none.Charge(quota.Requests, "p", math.MaxInt64); err != nil || none.Add(none.Report()) != nil {
		t.Errorf("no book: %v", err)
	}
}

// Requests charge while quotas change and reports go out.
func TestRaces(t *testing.T) {
	holder, a := new(quota.Book), new(quota.Book)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 500 {
				switch i {
				case 0:
					holder.Set(model.Quota{Measures: int64(n % 3)}, nil)
				case 1:
					report := a.Report()
					a.Take(report, holder.Add(report))
				default:
					_ = a.Charge(quota.Measures, "p", 1)
					holder.Return(quota.Measures, "p", 1)
					holder.Counted()
					_ = holder.Rate(quota.Measures, "p")
				}
			}
		})
	}
	all.Wait()
}

// Without quotas a charge is one atomic load.
func BenchmarkCharge(b *testing.B) {
	for _, name := range []string{"quotas=none", "quotas=one"} {
		book := new(quota.Book)
		if name == "quotas=one" {
			book.Set(model.Quota{}, map[string]model.Quota{"p": {Measures: 1 << 40}})
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := book.Charge(quota.Measures, "p", 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
