package diskprobe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var checks = []check{
	{"file system", fileSystem},
	{"free space", freeSpace},
	{"exclusive link", exclusiveLink},
	{"exclusive create", exclusiveCreate},
	{"link count", linkCount},
	{"atomic rename", atomicRename},
	{"locks", locks},
	{"sync", syncTime},
}

// kinds are the file systems (statfs(2)) of which something is to be said.
var kinds = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
	unix.TMPFS_MAGIC:           "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", unix.NFS_SUPER_MAGIC: "NFS", unix.CEPH_SUPER_MAGIC: "CephFS",
	unix.FUSE_SUPER_MAGIC: "FUSE", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB", unix.V9FS_MAGIC: "9p",
}

func fileSystem(dir string, _ *Options) (Verdict, string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return No, "", err
	}
	mount := MountKind(dir)
	switch kind := kinds[int64(stat.Type)]; kind {
	case "", "FUSE", "NFS", "CephFS":
		if text, _ := DeadClients(mount); text != "" {
			return Warning, mounted(mount) + " " + text + ".", nil
		}
		if mount != "" {
			return Yes, mounted(mount), nil
		}
		return Yes, fmt.Sprintf("its kind (%#x) is not one that we know.", stat.Type), nil
	case "tmpfs":
		return Warning, "tmpfs: what it holds is gone with the power.", nil
	case "SMB", "9p":
		return Warning, kind + " was never tried with several machines.", nil
	default:
		return Yes, kind + ".", nil
	}
}

func freeSpace(dir string, o *Options) (Verdict, string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return No, "", err
	}
	free := stat.Bavail * uint64(stat.Bsize)
	text := fmt.Sprintf("%.1f GiB are free.", float64(free)/(1<<30))
	if free < o.MinFreeBytes {
		return Warning, text, nil
	}
	return Yes, text, nil
}

const racers = 8

// race has several do something that one may succeed with, again and again.
func race(o *Options, try func(round, racer int) error) (Verdict, string, error) {
	rounds := o.rounds(25)
	for round := range rounds {
		var won atomic.Int32
		var group sync.WaitGroup
		errs := make([]error, racers)
		for racer := range racers {
			group.Go(func() {
				err := try(round, racer)
				if err == nil {
					won.Add(1)
				} else if !errors.Is(err, os.ErrExist) {
					errs[racer] = err
				}
			})
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			return No, "", err
		}
		if n := won.Load(); n != 1 {
			return No, fmt.Sprintf("%d of %d succeeded at once: two processes could hold one store.", n, racers), nil
		}
	}
	return Yes, fmt.Sprintf("of %d at once one succeeds; rounds: %d.", racers, rounds), nil
}

func exclusiveLink(dir string, o *Options) (Verdict, string, error) {
	return race(o, func(round, racer int) error {
		from := filepath.Join(dir, fmt.Sprintf("link-%d-%d", round, racer))
		if err := os.WriteFile(from, nil, 0o600); err != nil {
			return err
		}
		return os.Link(from, filepath.Join(dir, fmt.Sprintf("linked-%d", round)))
	})
}

func exclusiveCreate(dir string, o *Options) (Verdict, string, error) {
	return race(o, func(round, _ int) error {
		path := filepath.Join(dir, fmt.Sprintf("created-%d", round))
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		return file.Close()
	})
}

// linkCount makes as many names of a file as takeovers do at most.
func linkCount(dir string, _ *Options) (Verdict, string, error) {
	const names = 4
	first := filepath.Join(dir, "count")
	if err := os.WriteFile(first, []byte("x"), 0o600); err != nil {
		return No, "", err
	}
	for i := range names - 1 {
		if err := os.Link(first, first+strconv.Itoa(i)); err != nil {
			return No, "", err
		}
	}
	info, err := os.Stat(first)
	if err != nil {
		return No, "", err
	}
	if n := info.Sys().(*syscall.Stat_t).Nlink; n != names {
		return No, fmt.Sprintf("a file with %d names is said to have %d.", names, n), nil
	}
	return Yes, fmt.Sprintf("a file can have several names (%d), and they are counted.", names), nil
}

// longestStale is how long all reads may meet files that have just been replaced.
const longestStale = 5 * time.Second

// isReplaced reports whether an error says that what a name led to is gone. GlusterFS by FUSE answers so many times on
// a busy machine, opening (stale handle) or reading what was opened (no such file). It is an error, after which one
// looks again, and not half a file; a name that leads nowhere would be another matter. The files that we read are never
// replaced.
func isReplaced(err error) bool {
	var failed *os.PathError
	return errors.Is(err, unix.ESTALE) || errors.As(err, &failed) && failed.Op == "read" && errors.Is(err, unix.ENOENT)
}

// atomicRename replaces a file again and again while another reads it.
func atomicRename(dir string, o *Options) (Verdict, string, error) {
	renames := o.rounds(200)
	path := filepath.Join(dir, "renamed")
	content := func(i int) []byte { return fmt.Appendf(nil, "%064d", i) }
	if err := os.WriteFile(path, content(0), 0o600); err != nil {
		return No, "", err
	}
	var ended atomic.Bool
	done := make(chan error, 1)
	go func() {
		defer ended.Store(true)
		for i := range renames {
			if err := os.WriteFile(path+".new", content(i), 0o600); err != nil {
				done <- err
				return
			}
			if err := os.Rename(path+".new", path); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	seen, lastSeen := 0, time.Now()
	for !ended.Load() {
		got, err := os.ReadFile(path)
		if isReplaced(err) && time.Since(lastSeen) < longestStale {
			continue
		}
		if err != nil || len(got) != 64 {
			<-done
			return No, fmt.Sprintf("while a file was replaced, its name led to %d B (%v).", len(got), err), nil
		}
		seen, lastSeen = seen+1, time.Now()
	}
	return Yes, fmt.Sprintf("every read found a whole file: %d, during renames: %d.", seen, renames), <-done
}

const withoutLocks = "claims hold without them, but the second belt is missing."

// locks asks whether locks of open files exclude another descriptor, and outlive one that is closed.
func locks(dir string, _ *Options) (Verdict, string, error) {
	path := filepath.Join(dir, "locked")
	var files [3]*os.File
	for i := range files {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return No, "", err
		}
		defer file.Close()
		files[i] = file
	}
	lock := func(file *os.File) error {
		return unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
	}
	if err := lock(files[0]); err != nil {
		return Warning, fmt.Sprintf("there are none (%v); "+withoutLocks, err), nil
	}
	if err := files[1].Close(); err != nil {
		return No, "", err
	}
	if lock(files[2]) == nil {
		return Warning, "they do not exclude another descriptor; " + withoutLocks, nil
	}
	return Yes, "they exclude another descriptor, and outlive others that are closed.", nil
}

// syncTime measures what a heartbeat does.
func syncTime(dir string, o *Options) (_ Verdict, _ string, err error) {
	const beats = 20
	file, err := os.OpenFile(filepath.Join(dir, "synced"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return No, "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var took []time.Duration
	for i := range beats {
		begun := time.Now()
		if _, err := file.WriteAt(fmt.Appendf(nil, "%016d", i), 0); err != nil {
			return No, "", err
		}
		if err := file.Sync(); err != nil {
			return No, "", err
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	longest := took[beats-1]
	text := fmt.Sprintf("writing and syncing a counter takes %s, %s at most; a lease lasts %s.",
		took[beats/2].Round(time.Microsecond), longest.Round(time.Microsecond), o.TTL)
	switch {
	case longest >= o.TTL:
		return No, text, nil
	case longest >= o.TTL/3:
		return Warning, text, nil
	}
	return Yes, text, nil
}
