package fulldisk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ReserveFile only takes up room on the disk, for all processes of a data folder. A process that finds the disk full
// removes it, so that work under way can finish while measures are refused. It is made anew once there is room for it
// and more.
type ReserveFile struct {
	path     string
	bytes    int64
	needed   uint64 // free bytes from which it is made
	logger   *slog.Logger
	allocate func(*os.File, int64) error

	remove func(path string) error

	mu     sync.Mutex
	asking bool      // Remove waits for the disk
	asked  time.Time // when Remove looked last
	full   time.Time // when somebody needed room last
}

const (
	reserveName     = "reserve"
	maxReserveBytes = 16 << 20
	reserveInterval = time.Second
	// thereInterval is the time between two looks at a file that is there.
	thereInterval = 10 * time.Second
	// fullInterval is the time between two attempts on a disk that is full although it shows room: a quota. Each
	// attempt changes the data folder. On CephFS a look-up of the folder may wait 5 s for a change by another machine:
	// attempts of five processes once a second held up heartbeats for longer than a lease.
	fullInterval = 30 * time.Second
	// roomToStartBytes bounds the bytes that a process writes until it holds its share.
	roomToStartBytes = 1 << 20
	// defaultMinFreeBytes is package incoming's default.
	defaultMinFreeBytes = 256 << 20
)

// NewReserveFile returns the reserve file of a data folder: a quarter of the space at which measures are refused.
func NewReserveFile(folder string, minFreeBytes uint64, logger *slog.Logger) *ReserveFile {
	minFree := cmp.Or(minFreeBytes, defaultMinFreeBytes)
	size := min(minFree/4, maxReserveBytes)
	return &ReserveFile{path: filepath.Join(folder, reserveName), bytes: int64(size), needed: minFree + size,
		logger: logger, allocate: allocate, remove: os.Remove}
}

// Within gives the file another path to its folder, which leads to it after any later mount.
func (r *ReserveFile) Within(folder string) { r.path = filepath.Join(folder, reserveName) }

// Remove removes the file, and reports whether there was one. Everything that waits for room asks often: the disk is
// asked once in reserveInterval, and not while it has not answered. A look-up of the data folder hung for minutes on a
// CephFS that was full, and a writer that waits for room must not hang with it.
func (r *ReserveFile) Remove() bool {
	r.mu.Lock()
	r.full = time.Now()
	if r.asking || time.Since(r.asked) < reserveInterval {
		r.mu.Unlock()
		return false
	}
	r.asking, r.asked = true, r.full
	r.mu.Unlock()
	answer := make(chan bool, 1)
	go func() {
		removed := r.remove(r.path) == nil
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.asking = false; removed {
			r.asked = time.Time{}
			r.logger.Error("the disk is full; the reserve file is removed, so that work under way can finish", "bytes",
				r.bytes)
		}
		answer <- removed
	}()
	select {
	case removed := <-answer:
		return removed
	case <-time.After(reserveInterval):
		return false
	}
}

// RemoveToStart removes the file if there is too little room to start a process.
func (r *ReserveFile) RemoveToStart() {
	if free, err := freeBytes(filepath.Dir(r.path)); err == nil && free < roomToStartBytes {
		r.Remove()
	}
}

// Reconcile makes the file whenever it is missing and there is room, until ctx ends.
func (r *ReserveFile) Reconcile(ctx context.Context) {
	failing := false
	for {
		pause := reserveInterval
		var err error
		if !r.isWanted() {
			err = r.ensure()
		}
		if Is(err) {
			pause = fullInterval
		} else if err == nil && !r.isWanted() {
			pause = thereInterval
		} else if err != nil && !failing {
			r.logger.Warn("no reserve file for when the disk gets full", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// isWanted reports whether something waited for room a moment ago.
func (r *ReserveFile) isWanted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.full) < 2*reserveInterval
}

// ensure makes the file unless it is there or there is too little room. Several processes may do so at once: all make
// the same.
func (r *ReserveFile) ensure() error {
	if _, err := os.Lstat(r.path); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if free, err := freeBytes(filepath.Dir(r.path)); err != nil || free < r.needed {
		return err
	}
	fresh := r.path + ".new"
	file, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE, 0o640)
	if err != nil {
		return fmt.Errorf("fulldisk: reserve file: %w", err)
	}
	err = errors.Join(r.allocate(file, r.bytes), file.Close())
	if err == nil {
		err = os.Rename(fresh, r.path)
	} else {
		err = errors.Join(err, os.Remove(fresh))
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("fulldisk: reserve file: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = time.Time{}
	return nil
}

// allocate gives an empty file so many bytes of the disk.
func allocate(file *os.File, bytes int64) error {
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
