package web

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var writeZstd = flag.String("write.zstd", "", "folder to write bodies to, as the present version compresses them")

// Bodies of clients with version 1.20.3 of klauspost/compress are read, as those of the present version are. They are
// longer than their windows, and a window is what the decoder accepts at most.
func TestZstdOfOlderVersions(t *testing.T) {
	body := strings.Repeat("cpu,host=a,core=1 usage=0.25 1700000000000000000\n", 12<<20/49)
	for _, window := range []int{1 << 10, minWindowBytes, maxWindowBytes} {
		var compressed bytes.Buffer
		to, err := zstd.NewWriter(&compressed, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
		fatal.If(t, err)
		_, err = io.WriteString(to, body)
		fatal.If(t, err, to.Close())
		name := fmt.Sprintf("body-%d.zst", window)
		if *writeZstd != "" {
			fatal.If(t, os.WriteFile(filepath.Join(*writeZstd, name), compressed.Bytes(), 0o644))
		}
		older, err := os.ReadFile(filepath.Join("testdata", "zstd-1.20.3", name))
		fatal.If(t, err)
		for version, text := range map[string][]byte{"this version": compressed.Bytes(), "1.20.3": older} {
			from, err := newZstdReader(t.Context(), bytes.NewReader(text), budget.Measures)
			fatal.If(t, err)
			got, err := io.ReadAll(from)
			if err != nil || string(got) != body {
				t.Errorf("%s, a window of %d bytes: %d bytes of %d, %v", version, window, len(got), len(body), err)
			}
			fatal.If(t, from.Close())
		}
	}
}
