package claim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// holder is a process that shares a folder with others.
type holder struct {
	claim.Session
	fs    *engine.Recorder
	root  string
	claim claim.Claim
	db    *pebble.DB
}

// enter makes a process a member of the folder. A write through fs is refused once its lease is lost.
func enter(ctx context.Context, root, node string) (*holder, error) {
	coordinator, err := claim.NewFile(root, claim.Options{TTL: time.Second, Slack: 200 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	session, err := coordinator.Join(ctx, claim.Member{Node: node})
	if err != nil {
		return nil, err
	}
	fs := engine.NewRecorder(claim.Fence(engine.WholeBlocks(engine.RewriteUnsynced(vfs.Default)), session))
	return &holder{Session: session, fs: fs, root: root}, nil
}

// open claims a store and opens it, at an epoch above all earlier ones.
func (h *holder) open(ctx context.Context, name string) (err error) {
	if h.claim, err = h.Claim(ctx, name); err != nil {
		return err // a *claim.HeldError names the holder
	}
	dir, err := claim.TakeOver(h.fs, h.root, name, h.claim.Epoch)
	if err != nil {
		return err
	}
	if h.db, err = engine.Open(dir, engine.Options{FS: h.fs}); err != nil {
		return err
	}
	// A folder on a network disk keeps the last epoch's files for claim.Options.Grace.
	return errors.Join(claim.MarkOpened(h.fs, h.root, name, h.claim.Epoch),
		claim.RemoveOld(h.fs, filepath.Join(h.root, name), h.claim.Epoch))
}

// close lets others claim the store, and leaves.
func (h *holder) close(ctx context.Context) error {
	return errors.Join(h.db.Close(), claim.MarkClosed(h.fs, filepath.Join(h.root, h.claim.Name), h.claim.Epoch),
		h.Release(ctx, h.claim), h.Leave(ctx))
}

// A store has one holder. The second process gets it once the first one's lease is over, with all that was synced.
func Example() {
	ctx := context.Background()
	root, err := os.MkdirTemp("", "shared")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	try := func(err error) {
		if err != nil {
			panic(err)
		}
	}

	a, err := enter(ctx, root, "a")
	try(err)
	try(a.open(ctx, "store"))
	try(a.db.Set([]byte("key"), []byte("value"), pebble.Sync))

	b, err := enter(ctx, root, "b")
	try(err)
	err = b.open(ctx, "store")
	fmt.Println("while a lives:", errors.Is(err, claim.ErrHeld))

	a.Lose(errors.New("stalled")) // as when heartbeats do not reach the disk for the TTL
	_, err = a.fs.Create(filepath.Join(root, "late"), vfs.WriteCategoryUnspecified)
	fmt.Println("a is fenced:", errors.Is(err, claim.ErrLost))

	for err = b.open(ctx, "store"); errors.Is(err, claim.ErrHeld); err = b.open(ctx, "store") {
		time.Sleep(100 * time.Millisecond)
	}
	try(err)
	value, closer, err := b.db.Get([]byte("key"))
	try(err)
	fmt.Printf("b reads %s at epoch %d\n", value, b.claim.Epoch)
	try(closer.Close())
	try(b.close(ctx))
	// Output:
	// while a lives: true
	// a is fenced: true
	// b reads value at epoch 2
}
