package incoming

import (
	"github.com/google/uuid"

	"gnocco/internal/keyhash"
)

// AppendBlockMetrics appends the ids of a block's metrics to dst. The block's checksum is not looked at: who takes the
// measures does that.
func AppendBlockMetrics(dst []uuid.UUID, src []byte) ([]uuid.UUID, error) {
	ids, err := blockMetrics(src)
	for ; len(ids) > 0; ids = ids[16:] {
		dst = append(dst, uuid.UUID(ids[:16]))
	}
	return dst, err
}

// ListOf returns the list of a block's metrics, zero if they are few. The block's checksum is not looked at.
func ListOf(block []byte) keyhash.Hash {
	_, list := listed(block)
	return list
}

// listed returns the ids of a block's metrics and their list, nothing if they are few.
func listed(block []byte) (ids []byte, list keyhash.Hash) {
	ids, err := blockMetrics(block)
	if err != nil || len(ids) < 16*minListed {
		return nil, keyhash.Hash{}
	}
	return ids, keyhash.Of(ids)
}
