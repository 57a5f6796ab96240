package engine

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/fulldisk"
)

// WholeBlocks returns a file system that writes old logs over in whole blocks. To write a part of a block the kernel
// needs the rest: unless it is cached, the kernel first reads it, while a request waits for its log. So the last block
// is written to its end, with zeros, as often as the log grows into it; for Pebble a log that ends in zeros just ends.
func WholeBlocks(fs vfs.FS) vfs.FS { return wholeBlocks{fs} }

type wholeBlocks struct{ vfs.FS }

func (fs wholeBlocks) Unwrap() vfs.FS { return fs.FS }

func (fs wholeBlocks) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := fs.FS.ReuseForWrite(oldname, newname, category)
	if err != nil {
		return nil, err
	}
	return &wholeBlocksFile{File: file}, nil
}

// blockBytes is the size of a file system's block, and of the kernel's page, nearly everywhere. Where it is larger, a
// block may be read before it is written, as without this.
const blockBytes = 4 << 10

var zeros [blockBytes]byte

type wholeBlocksFile struct {
	vfs.File
	written int64
	buffer  []byte // holds what is written, and zeros
}

func (f *wholeBlocksFile) Write(p []byte) (n int, err error) {
	padding := -(f.written + int64(len(p))) & (blockBytes - 1)
	f.buffer = append(append(f.buffer[:0], p...), zeros[:padding]...)
	n, err = f.WriteAt(f.buffer, f.written)
	n = min(n, len(p))
	f.written += int64(n)
	return n, err
}

// RewriteUnsynced returns a file system on which a sync that found the disk full may be repeated: of package fulldisk,
// which other modules cannot import.
func RewriteUnsynced(fs vfs.FS) vfs.FS { return fulldisk.RewriteUnsynced(fs) }
