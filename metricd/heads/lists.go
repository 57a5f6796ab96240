package heads

import "github.com/gnocco-db/gnocco/internal/keyhash"

// lists remember the heads of lists of metrics that records name. Senders name the same metrics in the same order,
// request after request: to look each of them up again costs a cache miss or two.
type lists struct {
	heads map[keyhash.Hash][]*Head
	size  int // heads in all lists
}

// find returns the heads of a list, nil if it is not known, or if the index may say something new of one of them.
func (l *lists) find(list keyhash.Hash, generation uint64) []*Head {
	heads := l.heads[list]
	for _, h := range heads {
		if h.generation != generation {
			return nil
		}
	}
	return heads
}

// add remembers the heads of a list, all of which exist. Lists may name most metrics of the sack twice; then all are
// forgotten, as they seem to change.
func (l *lists) add(list keyhash.Hash, heads []*Head, inSack int) {
	if list == (keyhash.Hash{}) {
		return
	}
	for _, h := range heads {
		if h == nil {
			return
		}
	}
	if before, ok := l.heads[list]; ok {
		l.size -= len(before)
	} else if l.size+len(heads) > 2*inSack+len(heads) {
		l.clear()
	}
	if l.heads == nil {
		l.heads = make(map[keyhash.Hash][]*Head)
	}
	l.heads[list] = append([]*Head(nil), heads...)
	l.size += len(heads)
}

// clear forgets all lists: a head is gone.
func (l *lists) clear() { l.heads, l.size = nil, 0 }
