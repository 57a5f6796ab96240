package incoming

import (
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/roster"
)

// ListOf returns the list of a block's metrics, zero if they are few. The block's checksum is not looked at.
func ListOf(block []byte) keyhash.Hash {
	_, list := listed(block)
	return list
}

// listed returns the ids of a block's metrics and their list, nothing if they are few.
func listed(block []byte) (ids []byte, list keyhash.Hash) {
	ids, err := blockMetrics(block)
	if err != nil || len(ids) < 16*roster.MinListed {
		return nil, keyhash.Hash{}
	}
	return ids, keyhash.Of(ids)
}

// CutIDs returns what a block has before the ids of its metrics, the ids, and what it has behind them.
func CutIDs(block []byte) (before, ids, behind []byte, err error) {
	h, columns, err := decodeHeader(block)
	if err != nil {
		return nil, nil, nil, err
	}
	at := len(block) - len(columns)
	return block[:at], columns[:16*h.metrics], columns[16*h.metrics:], nil
}

// appendWhole appends a block to dst from which the ids were cut.
func appendWhole(dst, block, ids []byte) ([]byte, error) {
	at, err := idsOffset(block)
	if err != nil {
		return nil, err
	}
	dst = append(append(dst, block[:at]...), ids...)
	return append(dst, block[at:]...), nil
}
