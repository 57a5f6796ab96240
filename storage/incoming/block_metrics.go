package incoming

import "github.com/google/uuid"

// AppendBlockMetrics appends the ids of a block's metrics to dst. The block's checksum is not looked at: who takes the
// measures does that.
func AppendBlockMetrics(dst []uuid.UUID, src []byte) ([]uuid.UUID, error) {
	ids, err := blockMetrics(src)
	for ; len(ids) > 0; ids = ids[16:] {
		dst = append(dst, uuid.UUID(ids[:16]))
	}
	return dst, err
}
