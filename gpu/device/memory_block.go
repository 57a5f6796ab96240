package device

import "github.com/gnocco-db/gnocco/gpu/cu"

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
