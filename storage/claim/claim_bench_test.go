package claim_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// BenchmarkStart is what claims add to the start and the stop of a process that holds the index, one incoming store and
// 16 sacks, without opening the stores.
func BenchmarkStart(b *testing.B) {
	root := b.TempDir()
	claimed := []string{"index", "incoming/a"}
	for i := range 16 {
		claimed = append(claimed, fmt.Sprintf("sacks/%03d", i))
	}
	f := func(parallel int) {
		b.Run(fmt.Sprintf("claims=%d/parallel=%d", len(claimed), parallel), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fatal.If(b, startAndStop(root, claimed, parallel))
			}
		})
	}
	f(1)
	f(16)
}

func startAndStop(root string, names []string, parallel int) error {
	ctx := context.Background()
	coordinator, err := claim.NewFile(root, claim.Options{})
	if err != nil {
		return err
	}
	s, err := coordinator.Join(ctx, claim.Member{Node: "a"})
	if err != nil {
		return err
	}
	fs := claim.Fence(vfs.Default, s)
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, name := range names {
		group.Go(func() error {
			c, err := s.Claim(ctx, name)
			if err != nil {
				return err
			}
			dir := filepath.Join(root, name)
			_, err = claim.TakeOver(fs, root, name, c.Epoch)
			return errors.Join(err, claim.MarkClosed(fs, dir, c.Epoch), s.Release(ctx, c))
		})
	}
	return errors.Join(group.Wait(), s.Leave(ctx))
}

// BenchmarkTakeOver compares the takeover of a store that was closed in order with that of one whose holder died: 40
// tables of 64 KiB, a manifest and a log.
func BenchmarkTakeOver(b *testing.B) {
	f := func(closed bool) {
		b.Run(fmt.Sprintf("closed=%t", closed), func(b *testing.B) {
			root := b.TempDir()
			dir := filepath.Join(root, "index")
			path, err := claim.TakeOver(vfs.Default, root, "index", 1)
			fatal.If(b, err)
			for i := range 42 {
				name := []string{fmt.Sprintf("%06d.sst", i), "MANIFEST-000001", "000100.log"}[max(0, i-39)]
				file, err := vfs.Default.Create(filepath.Join(path, name), vfs.WriteCategoryUnspecified)
				fatal.If(b, err)
				if _, err := file.Write(make([]byte, 64<<10)); err != nil {
					b.Fatal(err)
				}
				fatal.If(b, errors.Join(file.Sync(), file.Close()))
			}
			epoch := uint64(1)
			for b.Loop() {
				if closed {
					fatal.If(b, claim.MarkClosed(vfs.Default, dir, epoch))
				}
				epoch++
				if _, err := claim.TakeOver(vfs.Default, root, "index", epoch); err != nil {
					b.Fatal(err)
				}
				fatal.If(b, claim.RemoveOld(vfs.Default, dir, epoch))
			}
		})
	}
	f(true)
	f(false)
}

// BenchmarkFence is what asking the lease adds to a write of a log record.
func BenchmarkFence(b *testing.B) {
	f := func(name string, fs vfs.FS) {
		b.Run(name, func(b *testing.B) {
			file, err := fs.Create(filepath.Join(b.TempDir(), "x"), vfs.WriteCategoryUnspecified)
			fatal.If(b, err)
			record := make([]byte, 128)
			for b.Loop() {
				if _, err := file.Write(record); err != nil {
					b.Fatal(err)
				}
			}
			fatal.If(b, file.Close())
		})
	}
	f("fence=no", vfs.Default)
	f("fence=yes", claim.Fence(vfs.Default, claim.NewDeadline(claim.BootClock{}, 1<<62, 0)))
}
