package carbonara

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

var writeZstd = flag.String("write.zstd", "", "folder to write columns to, as the present version compresses them")

// Columns that were compressed by version 1.20.3 of klauspost/compress are read, as those of the present version are.
// Go test -run TestZstdOfOlderVersions -write.zstd testdata/zstd-VERSION writes another version's.
func TestZstdOfOlderVersions(t *testing.T) {
	for _, count := range []int{minCompressLen / 8, 1000, 3600} {
		column := make([]byte, 0, 8*count)
		for i := range count {
			column = binary.LittleEndian.AppendUint64(column, uint64(i*i%977)<<(i/500))
		}
		read := func(from string, compressed []byte) {
			t.Helper()
			got, err := decompress(nil, compressed, len(column))
			if err != nil || !bytes.Equal(got, column) {
				t.Errorf("%d values of %s: %v", count, from, err)
			}
		}
		read("this version", compress(nil, column))
		name := fmt.Sprintf("column-%d.zst", count)
		if *writeZstd != "" {
			fatal.If(t, os.WriteFile(filepath.Join(*writeZstd, name), compress(nil, column), 0o644))
		}
		compressed, err := os.ReadFile(filepath.Join("testdata", "zstd-1.20.3", name))
		fatal.If(t, err)
		read("1.20.3", compressed)
	}
}
