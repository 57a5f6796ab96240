package claim

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// RefreshListing makes the next listing of a folder show all that other machines did before. The client of NFS caches
// listings, and drops a cached one when it changes the folder itself. So RefreshListing makes an empty file and removes
// it. The name is the member's own; a crash leaves the file until the next process of that node. If the file is gone
// before, another goroutine has removed it since, which changed the folder as well, or a repeated request has.
func RefreshListing(fs vfs.FS, dir, node string) error {
	path := fs.PathJoin(dir, temporary+"look-"+node)
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = file.Close()
	if removed := fs.Remove(path); !notThere(removed) {
		err = errors.Join(err, removed)
	}
	return err
}

// Look implements Session.
func (s *session) Look(ctx context.Context) error {
	if !s.detector.local {
		if err := RefreshListing(s.fs, s.detector.dir, s.member.Node); err != nil {
			return err
		}
	}
	for began := s.options.Clock.Now(); ; {
		if err := s.detector.look(s.options.Beat); err != nil {
			return err
		}
		if !s.detector.isReading() || s.options.Clock.Now()-began > s.options.Beat {
			return nil
		}
		if err := pause.For(ctx, s.options.Beat/100); err != nil {
			return err
		}
	}
}

// isReading reports whether a member's description is being read for the first time.
func (r *failureDetector) isReading() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.busy {
		if s := r.seen[id]; r.busy[id] && (s == nil || s.member.Node == "") {
			return true
		}
	}
	return false
}
