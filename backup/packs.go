package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/gnocco-db/gnocco/storage"
)

const (
	blockBytes = 64 << 10
	packBytes  = 4 << 20
	packsKept  = 32 // in memory, by a reader
)

// block is a part of a file as a Follower stored it last.
type block struct {
	sum  uint64 // by blockSeed, for this process alone
	part Part
	pack int // while the pack has no name: its number in packing.names, from 1
}

var blockSeed = maphash.MakeSeed()

// packing gathers what changed in the files of stores that are not tables, and stores it in few objects: logs and lists
// of tables change in each round, by little each, in place or at their ends.
type packing struct {
	repository *Repository
	pack       bytes.Buffer
	names      []string           // of packs that are stored
	before     map[string][]block // of the round before, by file
	blocks     map[string][]block
	written    int64
}

// add takes a file in. It stores the blocks that differ from those of the round before.
func (p *packing) add(ctx context.Context, name string, from io.Reader) (sum string, size int64, err error) {
	hash := sha256.New()
	buffer := make([]byte, blockBytes)
	var blocks []block
	for before := p.before[name]; ; {
		n, err := io.ReadFull(reading{ctx, from}, buffer)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return "", 0, err
		}
		b := block{sum: maphash.Bytes(blockSeed, buffer[:n]), part: Part{Bytes: int64(n)}}
		if i := len(blocks); i < len(before) && before[i].sum == b.sum && before[i].part.Bytes == b.part.Bytes {
			b = before[i]
		} else {
			b.part.At, b.pack = int64(p.pack.Len()), len(p.names)+1
			p.pack.Write(buffer[:n])
		}
		hash.Write(buffer[:n])
		blocks, size = append(blocks, b), size+int64(n)
		if p.pack.Len() >= packBytes {
			if err := p.store(ctx); err != nil {
				return "", 0, err
			}
		}
	}
	p.blocks[name] = blocks
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}

// store stores the pack that was begun.
func (p *packing) store(ctx context.Context) error {
	if p.pack.Len() == 0 {
		return nil
	}
	sum, _, written, err := p.repository.add(ctx, bytes.NewReader(p.pack.Bytes()))
	p.names, p.written = append(p.names, sum), p.written+written
	p.pack.Reset()
	return err
}

// finish stores the last pack, and tells the files of a manifest where their parts are.
func (p *packing) finish(ctx context.Context, m *Manifest) error {
	if err := p.store(ctx); err != nil {
		return err
	}
	for _, s := range m.Stores {
		for i := range s.Files {
			f := &s.Files[i]
			blocks := p.blocks[s.Name+"/"+f.Name]
			if len(blocks) > 0 {
				f.Parts = nil
			}
			for j := range blocks {
				b := &blocks[j]
				if b.pack > 0 {
					b.part.Pack, b.pack = p.names[b.pack-1], 0
				}
				if n := len(f.Parts) - 1; n >= 0 && f.Parts[n].continues(b.part) {
					f.Parts[n].Bytes += b.part.Bytes
				} else {
					f.Parts = append(f.Parts, b.part)
				}
			}
		}
	}
	return nil
}

// continues reports whether q follows p in a pack.
func (p Part) continues(q Part) bool { return p.Pack == q.Pack && p.At+p.Bytes == q.At }

// parts reads the parts of a file one after the other.
type parts struct {
	ctx        context.Context
	repository *Repository
	cipher     string
	left       []Part
	now        []byte // what is left of the part before
}

func (p *parts) Read(to []byte) (int, error) {
	for len(p.now) == 0 {
		if len(p.left) == 0 {
			return 0, io.EOF
		}
		part := p.left[0]
		pack, err := p.repository.pack(p.ctx, p.cipher, part.Pack)
		if err != nil {
			return 0, err
		}
		if part.At > int64(len(pack))-part.Bytes {
			return 0, fmt.Errorf("%w: %s is shorter than its parts", storage.ErrCorrupt, objectName(part.Pack))
		}
		p.now, p.left = pack[part.At:part.At+part.Bytes], p.left[1:]
	}
	n := copy(to, p.now)
	p.now = p.now[n:]
	return n, nil
}

// pack returns a pack. The next file has parts of the same ones, mostly.
func (r *Repository) pack(ctx context.Context, cipher, sum string) ([]byte, error) {
	if pack, ok := r.packs[sum]; ok {
		return pack, nil
	}
	var pack bytes.Buffer
	if err := r.extract(ctx, cipher, &File{Sum: sum, Bytes: -1}, &pack); err != nil {
		return nil, err
	}
	if len(r.packs) >= packsKept {
		clear(r.packs)
	}
	if r.packs == nil {
		r.packs = make(map[string][]byte)
	}
	r.packs[sum] = pack.Bytes()
	return pack.Bytes(), nil
}
