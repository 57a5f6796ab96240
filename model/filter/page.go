package filter

import (
	"container/heap"
	"slices"

	"gnocco/model"
)

// Page gathers the first resources of an order, of however many it is shown. Read by one goroutine.
type Page struct {
	order     *Order
	limit     int             // 0: all
	after     *model.Resource // nil: from the start
	resources resourceHeap
}

// NewPage returns a page of up to limit resources (0: all) that come after the given one (nil: from the start).
func NewPage(order *Order, limit int, after *model.Resource) *Page {
	return &Page{order: order, limit: limit, after: after, resources: resourceHeap{order: order}}
}

// Add shows a resource to the page, which may keep it.
func (p *Page) Add(r *model.Resource) {
	switch h := &p.resources; {
	case p.after != nil && p.order.Compare(r, p.after) <= 0:
	case p.limit == 0:
		h.items = append(h.items, r)
	case len(h.items) < p.limit:
		heap.Push(h, r)
	case p.order.Compare(r, h.items[0]) < 0:
		h.items[0] = r
		heap.Fix(h, 0)
	}
}

// Resources ends the page and returns what is on it, in order.
func (p *Page) Resources() []*model.Resource {
	slices.SortFunc(p.resources.items, p.order.Compare)
	return p.resources.items
}

// resourceHeap has the last of an order on top.
type resourceHeap struct {
	order *Order
	items []*model.Resource
}

// Len, Less, Swap, Push and Pop are for package heap.
func (h *resourceHeap) Len() int           { return len(h.items) }
func (h *resourceHeap) Less(i, j int) bool { return h.order.Compare(h.items[i], h.items[j]) > 0 }
func (h *resourceHeap) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *resourceHeap) Push(x any)         { h.items = append(h.items, x.(*model.Resource)) }
func (h *resourceHeap) Pop() any {
	last := len(h.items) - 1
	r := h.items[last]
	h.items = h.items[:last]
	return r
}
