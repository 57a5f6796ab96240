package filter

import (
	"container/heap"
	"slices"
)

// Page gathers the first items of an order, of however many it is shown. Used by one goroutine.
type Page[T any] struct {
	items pageHeap[T]
	limit int // 0: all
	after *T  // nil: from the start
}

// NewPage returns a page of up to limit items (0: all) that come after the given one (nil: from the start). compare is
// a total order.
func NewPage[T any](compare func(a, b *T) int, limit int, after *T) *Page[T] {
	return &Page[T]{items: pageHeap[T]{compare: compare}, limit: limit, after: after}
}

// Wants reports whether Add would keep an item.
func (p *Page[T]) Wants(item *T) bool {
	h := &p.items
	if p.after != nil && h.compare(item, p.after) <= 0 {
		return false
	}
	return p.limit == 0 || len(h.items) < p.limit || h.compare(item, h.items[0]) < 0
}

// Add shows an item to the page, which may keep it.
func (p *Page[T]) Add(item *T) {
	switch h := &p.items; {
	case !p.Wants(item):
	case p.limit == 0:
		h.items = append(h.items, item)
	case len(h.items) < p.limit:
		heap.Push(h, item)
	default:
		h.items[0] = item
		heap.Fix(h, 0)
	}
}

// Full reports whether the page is complete: an item behind those on it cannot matter any more.
func (p *Page[T]) Full() bool { return p.limit > 0 && len(p.items.items) >= p.limit }

// Unsorted returns what is on the page, in no order.
func (p *Page[T]) Unsorted() []*T { return p.items.items }

// Items ends the page and returns what is on it, in order.
func (p *Page[T]) Items() []*T {
	slices.SortFunc(p.items.items, p.items.compare)
	return p.items.items
}

// pageHeap has the last of an order on top.
type pageHeap[T any] struct {
	compare func(a, b *T) int
	items   []*T
}

// Len, Less, Swap, Push and Pop are for package heap.
func (h *pageHeap[T]) Len() int           { return len(h.items) }
func (h *pageHeap[T]) Less(i, j int) bool { return h.compare(h.items[i], h.items[j]) > 0 }
func (h *pageHeap[T]) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *pageHeap[T]) Push(x any)         { h.items = append(h.items, x.(*T)) }
func (h *pageHeap[T]) Pop() any {
	last := len(h.items) - 1
	item := h.items[last]
	h.items = h.items[:last]
	return item
}
