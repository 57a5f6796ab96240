package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ballast is a file that only takes up room, one for all processes of a data folder. Whoever finds the disk full removes it, so
// that what is under way can finish while measures are refused; it is made anew when there is room for it and more.
type ballast struct {
	path   string
	bytes  int64
	needed uint64 // free bytes from which it is made
	logger *slog.Logger
}

const (
	ballastName     = "ballast"
	maxBallast      = 64 << 20
	ballastInterval = time.Second
	// roomToStart is what a process writes until it holds its share.
	roomToStart = 1 << 20
	// defaultMinFree is what package incoming takes for 0.
	defaultMinFree = 256 << 20
)

// newBallast returns the ballast of a data folder: a quarter of the space at which measures are refused.
func newBallast(folder string, minFreeBytes uint64, logger *slog.Logger) *ballast {
	minFree := cmp.Or(minFreeBytes, defaultMinFree)
	size := min(minFree/4, maxBallast)
	return &ballast{path: filepath.Join(folder, ballastName), bytes: int64(size), needed: minFree + size, logger: logger}
}

// drop removes the file, and tells whether it was there.
func (b *ballast) drop() bool {
	if err := os.Remove(b.path); err != nil {
		return false
	}
	b.logger.Error("the disk is full; the ballast is removed, so that what is under way can finish", "bytes", b.bytes)
	return true
}

// dropToStart removes the file if there is too little room to start a process.
func (b *ballast) dropToStart() {
	if free, err := freeBytes(filepath.Dir(b.path)); err == nil && free < roomToStart {
		b.drop()
	}
}

// keep makes the file whenever it is not there and there is room, until ctx ends.
func (b *ballast) keep(ctx context.Context) {
	tick := time.NewTicker(ballastInterval)
	defer tick.Stop()
	failing := false
	for {
		err := b.make()
		if err != nil && !failing && !errors.Is(err, unix.ENOSPC) {
			b.logger.Warn("no ballast for when the disk gets full", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// make makes the file unless it is there or there is too little room. Processes may do so at once: all make the same.
func (b *ballast) make() error {
	if _, err := os.Lstat(b.path); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if free, err := freeBytes(filepath.Dir(b.path)); err != nil || free < b.needed {
		return err
	}
	fresh := b.path + ".new"
	file, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE, 0o640)
	if err != nil {
		return fmt.Errorf("server: ballast: %w", err)
	}
	err = errors.Join(reserve(file, b.bytes), file.Close())
	if err == nil {
		err = os.Rename(fresh, b.path)
	} else {
		err = errors.Join(err, os.Remove(fresh))
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("server: ballast: %w", err)
	}
	return nil
}

// reserve gives an empty file so many bytes of the disk.
func reserve(file *os.File, bytes int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, bytes)
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	chunk := make([]byte, 1<<20)
	for written := int64(0); written < bytes; {
		n, err := file.Write(chunk[:min(int64(len(chunk)), bytes-written)])
		if written += int64(n); err != nil {
			return err
		}
	}
	return nil
}

func freeBytes(dir string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
