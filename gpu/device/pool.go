package device

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// Pool is the device's memory: blocks that come back are kept and handed out again. If a new one would exceed the
// budget, the block that is unused for longest is freed. Only the owner uses it.
type Pool struct {
	budget int64
	held   int64    // bytes of all blocks, used or not
	unused []*Block // the one given back last comes last
	all    map[*Block]struct{}

	instruments *instruments
}

func newPool(budget int64, m *instruments) *Pool {
	m.poolHeld.Set(0) // a device before it may have died with some
	m.poolUnused.Set(0)
	return &Pool{budget: budget, all: make(map[*Block]struct{}), instruments: m}
}

// Budget returns how many bytes the pool takes at most.
func (p *Pool) Budget() int64 { return p.budget }

// Get returns a block of at least so many bytes, with one reference. It holds rubbish. ErrMemory if that is too much
// while others hold what they hold.
func (p *Pool) Get(bytes int64) (*Block, error) {
	class := sizeClass(bytes)
	if b := p.reuse(class); b != nil {
		return b, nil
	}
	if class > p.budget {
		return nil, fmt.Errorf("%w: %d bytes, device budget %d", ErrMemory, class, p.budget)
	}
	for p.held > p.budget-class {
		if err := p.shrink(); err != nil {
			return nil, err
		}
		if b := p.reuse(class); b != nil { // what was let go may fit
			return b, nil
		}
	}
	for {
		address, err := cu.MemAlloc(class)
		if err == nil {
			return p.add(address, class), nil
		}
		if !errors.Is(err, cu.OutOfMemory) {
			return nil, fmt.Errorf("gpu: %w", err)
		}
		if err := p.shrink(); err != nil { // other processes also use the device
			return nil, err
		}
	}
}

// reuse returns the smallest unused block for the class, of those the one given back last; nil if there is none.
func (p *Pool) reuse(class int64) *Block {
	best := -1
	for i, b := range p.unused {
		if serves(b.Size, class) && (best < 0 || b.Size <= p.unused[best].Size) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b := p.unused[best]
	p.unused = slices.Delete(p.unused, best, best+1)
	p.instruments.poolUnused.Sub(float64(b.Size))
	return p.hand(b)
}

func (p *Pool) add(address cu.DevicePtr, size int64) *Block {
	b := &Block{Ptr: address, Size: size, pool: p}
	p.all[b] = struct{}{}
	p.held += size
	p.instruments.allocations.Inc()
	p.instruments.poolHeld.Set(float64(p.held))
	return p.hand(b)
}

func (p *Pool) hand(b *Block) *Block {
	b.refs, b.ready = 1, false
	return b
}

func (p *Pool) put(b *Block) {
	p.unused = append(p.unused, b)
	p.instruments.poolUnused.Add(float64(b.Size))
}

// shrink frees the block that is unused for longest. ErrMemory if there is none.
func (p *Pool) shrink() error {
	if len(p.unused) == 0 {
		return fmt.Errorf("%w: %d of %d bytes of the device are in use", ErrMemory, p.held, p.budget)
	}
	b := p.unused[0]
	p.unused = slices.Delete(p.unused, 0, 1)
	p.instruments.poolUnused.Sub(float64(b.Size))
	return p.free(b)
}

func (p *Pool) free(b *Block) error {
	delete(p.all, b)
	p.held -= b.Size
	p.instruments.poolHeld.Set(float64(p.held))
	err := cu.MemFree(b.Ptr)
	if b.has {
		err = errors.Join(err, cu.DestroyEvent(b.event))
	}
	if err != nil {
		return fmt.Errorf("gpu: %w", err)
	}
	return nil
}

// close frees all blocks, even held ones.
func (p *Pool) close() error {
	var errs []error
	for b := range p.all {
		errs = append(errs, p.free(b))
	}
	p.unused = nil
	p.instruments.poolUnused.Set(0)
	return errors.Join(errs...)
}

// minBlockBytes is what the driver's own allocator hands out at least.
const minBlockBytes = 512

// sizeClass returns how much is allocated for so many bytes: eight sizes to each power of two, so that blocks of nearly
// the same size can stand for each other and at most an eighth is unused.
func sizeClass(wanted int64) int64 {
	if wanted < 0 {
		panic("gpu: a negative size")
	}
	if wanted <= minBlockBytes {
		return minBlockBytes
	}
	step := int64(1) << (bits.Len64(uint64(wanted-1)) - 4)
	return (wanted + step - 1) &^ (step - 1)
}

// serves reports whether a block may stand for one of the wanted class: it fits and less than half is wasted.
func serves(size, class int64) bool { return size >= class && size/2 < class }

// Block is device memory from a Pool. The owner of a reference may use it on streams that hold it.
type Block struct {
	Ptr  cu.DevicePtr
	Size int64 // what can be used; at least what was asked for

	pool  *Pool
	refs  int      // owners: the taker, and streams; back to the pool at 0
	event cu.Event // made when first needed, kept over uses of the block
	has   bool     // event was made
	ready bool     // event was recorded: readers on other streams wait for it
}

// At returns the address of byte offset, which lies within the block.
func (b *Block) At(offset int64) cu.DevicePtr {
	b.check(offset, 0)
	return b.Ptr + cu.DevicePtr(offset)
}

// Retain adds an owner.
func (b *Block) Retain() { b.refs++ }

// Release is called once by each owner. After the last, the block is the pool's.
func (b *Block) Release() {
	b.refs--
	switch {
	case b.refs < 0:
		panic("gpu: block released more often than retained")
	case b.refs == 0:
		b.pool.put(b)
	}
}

// check panics if bytes from offset on do not lie in the block: the driver cannot tell, as it knows larger pieces only.
func (b *Block) check(offset, bytes int64) {
	if offset < 0 || bytes < 0 || offset > b.Size || bytes > b.Size-offset {
		panic("gpu: outside of the block")
	}
}
