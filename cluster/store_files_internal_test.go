package cluster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
)

func TestLayersOfStoreFiles(t *testing.T) {
	lease := claim.NewDeadline(claim.BootClock{}, 1<<62, 0)
	var layers []string
	for fs := vfs.FS(storeFiles(t.Context(), vfs.NewMem(), lease, func() bool { return false })); fs != nil; {
		layers = append(layers, fmt.Sprintf("%T", fs))
		fs = fs.Unwrap()
	}
	want := []string{"*engine.Recorder", "*claim.fence", "*fulldisk.retryWhenFull", "engine.wholeBlocks",
		"fulldisk.rewriteUnsynced", "*vfs.MemFS"}
	if !slices.Equal(layers, want) {
		t.Errorf("layers %v, want %v", layers, want)
	}
}
