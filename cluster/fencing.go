package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/diskprobe"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// ErrFenced says that this process has lost its right to the data folder: others may have taken over what it held, and
// nothing that it does counts any more. It has to end, and may be started again at once.
var ErrFenced = errors.New("lost the lease on the data folder; start the process again")

// The exit statuses of a process that ends because of ErrFenced, and because of datafolder.ErrRefused.
const (
	ExitFenced        = 3
	ExitRefusedFolder = 4
)

// fencing knows why this process may have lost the data folder.
type fencing struct {
	folder  *datafolder.Folder
	session claim.Session // nil before this process is a member
	logger  *slog.Logger
}

// why returns the error of a lease that is lost.
func (f *fencing) why() error {
	err := f.folder.Why(f.session.Err())
	if errors.Is(err, claim.ErrStaleNames) {
		return f.staleNames(err)
	}
	if errors.Is(err, datafolder.ErrRefused) {
		return fmt.Errorf("cluster: %w", err)
	}
	return fmt.Errorf("cluster: %w: %w", ErrFenced, err)
}

// staleNames says that the mount hides names, and returns the error of a process that ends for that.
func (f *fencing) staleNames(err error) error {
	kind := diskprobe.MountKind(f.folder.Path)
	f.logger.Error("the mount of the data folder is not fit for several machines: it hides what others do. This process "+
		"takes nothing over", "file_system", kind, "set", diskprobe.Advice(kind), "error", err)
	return fmt.Errorf("cluster: %w: %w", ErrFenced, err)
}

// watch ends the lease when the data folder is not the one any more that this process began with. It looks at the
// folder every so often, and when the machine's mounts have changed, which costs the disk nothing.
func (f *fencing) watch(ctx context.Context, every time.Duration) {
	mounts := diskprobe.WatchMounts()
	defer mounts.Close()
	if text, long := diskprobe.DeadClients(diskprobe.MountKind(f.folder.Path)); long {
		f.logger.Warn("a machine that dies may hold up the others", "what", text)
	} else if text != "" {
		f.logger.Info("a machine that dies may hold up the others", "what", text)
	}
	looked := time.Now()
	for range pause.Ticks(ctx, min(every, maxFolderWatch)) {
		if time.Since(looked) < every && !mounts.Changed() {
			continue
		}
		looked = time.Now()
		// The lease bounds how long a mount may be dead: GlusterFS heals when its servers are back.
		if err := f.folder.Check(); errors.Is(err, datafolder.ErrRefused) && !datafolder.IsDeadMount(err) {
			f.session.Lose(err)
			return
		}
	}
}

// maxFolderWatch is the most time until a change of the mounts is seen. Data accepted before the look that finds
// another mount there may be lost.
const maxFolderWatch = 500 * time.Millisecond
