package incoming

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// Senders name the same metrics in the same order, request after request, and an id takes 16 of the 25 bytes of a
// single measure. So the ids of a block that came before are stored once, as a list, and records refer to it. It is
// stored with the first record that refers to it, in the same batch, and deleted, with records, when for a whole turn
// of acknowledging nothing referred to it. Readers get whole blocks.

// idLists knows the lists of all sacks. The committer alone uses it.
type idLists struct{ sacks []sackLists }

type sackLists struct {
	stored map[keyhash.Hash]*idList
	once   roster.Cache[struct{}] // came once: not yet worth storing
}

// idList is a list in the store.
type idList struct {
	number uint64 // sequence of its first record
	last   uint64 // sequence of its latest record
}

// maxLists bounds the lists in the store, and those that came once, of each sack.
const maxLists = 4096

func newIDLists(sacks int) *idLists {
	l := &idLists{make([]sackLists, sacks)}
	for i := range l.sacks {
		l.sacks[i] = sackLists{make(map[keyhash.Hash]*idList), roster.Cache[struct{}]{Limit: maxLists}}
	}
	return l
}

// use returns the number of the list of a block's metrics, 0 if it refers to none; isNew: the list must be stored with
// it.
func (l *idLists) use(sack int, hash keyhash.Hash, sequence uint64) (number uint64, isNew bool) {
	s := &l.sacks[sack]
	if list := s.stored[hash]; list != nil {
		list.last = sequence
		return list.number, false
	}
	if _, came := s.once.Get(hash); !came || len(s.stored) == maxLists {
		s.once.Put(hash, struct{}{})
		return 0, false
	}
	s.once.Delete(hash)
	s.stored[hash] = &idList{sequence, sequence}
	return sequence, true
}

// forget calls f with the lists to which no record behind a sequence refers.
func (l *idLists) forget(sack int, upTo uint64, f func(number uint64) error) error {
	s := &l.sacks[sack]
	for hash, list := range s.stored {
		if list.last > upTo {
			continue
		}
		if err := f(list.number); err != nil {
			return err
		}
		delete(s.stored, hash)
	}
	return nil
}

// The keys of lists sort behind all records.
var (
	listPrefix = []byte{0xff, 0xff, 'i'}
	listsEnd   = []byte{0xff, 0xff, 'i' + 1}
)

const listKeyBytes = 3 + 2 + 8

func listKey(sack int, number uint64) []byte {
	key := binary.BigEndian.AppendUint16(listPrefix[:3:3], uint16(sack))
	return binary.BigEndian.AppendUint64(key, number)
}

// parseListKey is the inverse of listKey; ok is false for any other key.
func parseListKey(key []byte) (sack int, number uint64, ok bool) {
	if len(key) != listKeyBytes || !bytes.HasPrefix(key, listPrefix) {
		return 0, 0, false
	}
	return int(binary.BigEndian.Uint16(key[3:])), binary.BigEndian.Uint64(key[5:]), true
}

// The value of a list: version (1) | ids, 16 bytes each | xxHash64 of these (8).
const (
	listVersion    = 1
	listValueBytes = 1 + 8 // beside the ids
)

func putList(dst, ids []byte) {
	dst[0] = listVersion
	end := 1 + copy(dst[1:], ids)
	binary.LittleEndian.PutUint64(dst[end:], xxhash.Sum64(dst[:end]))
}

func decodeList(src []byte) (ids []byte, err error) {
	end := len(src) - 8
	if end < 1 || src[0] != listVersion || (end-1)%16 != 0 ||
		binary.LittleEndian.Uint64(src[end:]) != xxhash.Sum64(src[:end]) {
		return nil, fmt.Errorf("%w: list of metrics", errCorrupt)
	}
	return src[1:end], nil
}

// readLists finds the lists that an earlier epoch left. It leaves lists that do not decode to the readers of records.
func (s *Store) readLists() (*idLists, error) {
	lists := newIDLists(len(s.sacks))
	return lists, engine.Each(s.db, listPrefix, listsEnd, func(key, value []byte) error {
		sack, number, ok := parseListKey(key)
		if !ok || sack >= len(s.sacks) {
			return nil
		}
		hash := keyhash.Hash{number}
		if ids, err := decodeList(value); err == nil {
			hash = keyhash.Of(ids)
		}
		lists.sacks[sack].stored[hash] = &idList{number, s.sacks[sack].last}
		return nil
	})
}

// whole returns the block of a record, complete: a block that refers to a list gets its ids back, in memory of its own.
// Blocks are not checked.
func (r *storedRecord) whole(reader pebble.Reader, sack int) ([]byte, error) {
	if r.list == 0 {
		return r.block, nil
	}
	value, closer, err := reader.Get(listKey(sack, r.list))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, fmt.Errorf("%w: no list of metrics %d", errCorrupt, r.list)
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	ids, err := decodeList(value)
	if err != nil {
		return nil, err
	}
	return appendWhole(make([]byte, 0, len(r.block)+len(ids)), r.block, ids)
}
