package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// load appends the measures of five seconds, 10,000 a second, to an incoming store.
func load(t *testing.T, store *incoming.Store, round int) {
	t.Helper()
	const metrics, each, requests = 100, 10, 50
	for request := range requests {
		m := &model.Measures{Offsets: []int{0}}
		for metric := range metrics {
			m.Metrics = append(m.Metrics, uuid.UUID{byte(metric + 1)})
			for i := range each {
				m.Timestamps = append(m.Timestamps, carbonara.Timestamp(1e18+((round*requests+request)*each+i)*1e7))
				m.Values = append(m.Values, float64(request*metric%17+i))
			}
			m.Offsets = append(m.Offsets, len(m.Values))
		}
		all := make([]int, metrics)
		for i := range all {
			all[i] = i
		}
		must(t, store.Append(t.Context(), []incoming.Block{{Data: incoming.AppendBlock(nil, m, all, time.Now())}}))
	}
}

// A round of five seconds at 10,000 measures a second costs two writes, with the lock's renewals at most half a write a
// second, and the bytes of the log's tail: not of the whole log again.
func TestFollowersWriteLittle(t *testing.T) {
	s, data := serve(t), dataFolder(t)
	dir := filepath.Join(data, "incoming", "0a", "e1")
	store, err := incoming.Open(dir, incoming.Options{Sacks: 1})
	must(t, err)
	defer store.Close()
	b, err := openBucket(t.Context(), "s3://backups/site/a")
	must(t, err)
	keep, err := backup.ParseKeep("3")
	must(t, err)
	f, err := backup.Follow(t.Context(), backup.Options{Data: data, To: b, Keep: keep})
	must(t, err)
	defer f.Close()
	var puts, bytes atomic.Int64
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			puts.Add(1)
			bytes.Add(r.ContentLength)
		}
		return false
	}
	load(t, store, 0)
	_, err = f.Round()
	must(t, err)
	puts.Store(0)
	bytes.Store(0)
	const rounds, every = 20, 5 * time.Second
	var first int64 // bytes of the first half
	begun := time.Now()
	for round := range rounds {
		load(t, store, round+1)
		_, err := f.Round()
		must(t, err)
		if round == rounds/2-1 {
			first = bytes.Load()
		}
	}
	took := rounds * every
	renewals := took/renewEvery - time.Since(begun)/renewEvery // that so many rounds would have had, had they waited
	t.Logf("%d writes and %d KiB in %d rounds, %d renewals besides", puts.Load(), bytes.Load()>>10, rounds, renewals)
	if all := puts.Load() + int64(renewals); float64(all) > 0.5*took.Seconds() {
		t.Errorf("%d writes in %s", all, took)
	}
	if second := bytes.Load() - first; second > first*5/4 {
		t.Errorf("the first rounds wrote %d bytes, and as many later ones %d", first, second)
	}
	mustRun(t, "restore", "--from", "s3://backups/site/a", "--verify")
}

// A bucket that hangs ends a round once the lock is lost, and leaves the copy as it was. A follower that stood still
// for long does not write into the copy of its successor.
func TestFollowersOfBucketsThatHang(t *testing.T) {
	s, data := serve(t), dataFolder(t)
	options := backup.Options{Data: data, To: quick(t)}
	f, err := backup.Follow(t.Context(), options)
	must(t, err)
	_, err = f.Round()
	must(t, err)
	fill(t, data, 1000)
	hang, goOn := context.WithCancel(t.Context())
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-hang.Done():
		case <-r.Context().Done():
		}
		return true
	}
	begun := time.Now()
	if _, err := f.Round(); err == nil || !f.Lost() {
		t.Errorf("a round of a bucket that hangs: %v, lost %t", err, f.Lost())
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("the round ended after %s", took)
	}
	s.before = nil
	goOn()
	mustRun(t, "restore", "--from", "s3://backups/site/a", "--verify")
	options.To = quick(t)
	successor, err := backup.Follow(t.Context(), options)
	must(t, err)
	_, err = successor.Round()
	must(t, err)
	if _, err := f.Round(); err == nil || !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "lock") {
		t.Errorf("the earlier follower goes on: %v", err)
	}
	must(t, successor.Close())
	restored := filepath.Join(t.TempDir(), "restored")
	mustRun(t, "restore", "--from", "s3://backups/site/a", "--data", restored, "--state", t.TempDir())
	checkRestored(t, restored, 1200)
	_, err = (&datafolder.Folder{Path: restored}).ReadClusterFile()
	must(t, err)
}
