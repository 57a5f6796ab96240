package incoming

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// Block is the part of a request that falls into one sack; Data is what AppendBlock made.
type Block struct {
	Sack int
	Data []byte
}

// request is one call of Append, with blocks of its own.
type request struct {
	blocks []requestBlock
	bytes  int
	done   chan error // capacity 1
	// taken is set once: by the committer, which then commits the request, or by Append, which gives up and withdraws
	// it.
	taken atomic.Bool
}

type requestBlock struct {
	Block
	measures int
	accepted time.Time
	before   total
	ids      []byte       // part of Data, if they may be a list
	hash     keyhash.Hash // of ids
}

// newRequest copies blocks: the caller may give up while the committer still reads them, and the recent records keep
// them.
func newRequest(blocks []Block, sacks int) (*request, error) {
	r := &request{blocks: make([]requestBlock, len(blocks)), done: make(chan error, 1)}
	last := -1
	for i, b := range blocks {
		if b.Sack <= last || b.Sack >= sacks {
			return nil, fmt.Errorf("%w: sack %d after %d, of %d", model.ErrInvalid, b.Sack, last, sacks)
		}
		last = b.Sack
		measures, accepted, err := BlockMeasures(b.Data)
		if err != nil {
			return nil, err
		}
		// One copy each, so that the sack which is processed first does not keep the others in memory, or they it.
		block := requestBlock{Block: Block{b.Sack, bytes.Clone(b.Data)}, measures: measures, accepted: accepted}
		block.ids, block.hash = listed(block.Data)
		r.blocks[i] = block
		r.bytes += len(b.Data)
	}
	return r, nil
}
