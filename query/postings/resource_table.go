package postings

import (
	"slices"

	"github.com/google/uuid"
)

// resource is the labels that the series of a resource share, and what access rules ask of it.
type resource struct {
	id       uuid.UUID
	labels   []pair // by name
	shown    []pair // instead of labels, if Ceilometer's names are used
	original symbol
	creator  symbol
	metrics  []uint32
	gone     bool
}

// resourceTable has the resources by ID and by label.
type resourceTable struct {
	resources []resource
	resPlaces map[uuid.UUID]uint32
	values    map[symbol]map[symbol][]uint32 // resources by label and value, ascending
}

// setLabels gives a place among the resources these labels, and no others.
func (t *resourceTable) setLabels(place uint32, list, shown []pair) {
	at := &t.resources[place]
	for _, label := range slices.Concat(at.labels, at.shown) {
		values := t.values[label.name]
		if values[label.value] = without(values[label.value], place); len(values[label.value]) == 0 {
			delete(values, label.value)
		}
	}
	at.labels, at.shown = list, shown
	t.list(place)
}

// list lists a place among the resources by its labels.
func (t *resourceTable) list(place uint32) {
	for _, label := range slices.Concat(t.resources[place].labels, t.resources[place].shown) {
		values := t.values[label.name]
		if values == nil {
			values = map[symbol][]uint32{}
			t.values[label.name] = values
		}
		values[label.value] = with(values[label.value], place)
	}
}

// build lists the resources that were read, and returns how many are gone.
func (t *resourceTable) build() (gone int) {
	t.resPlaces, t.values = map[uuid.UUID]uint32{}, map[symbol]map[symbol][]uint32{}
	for i := range t.resources {
		r := &t.resources[i]
		if r.gone {
			gone++
			continue
		}
		t.resPlaces[r.id] = uint32(i)
		t.list(uint32(i))
	}
	return gone
}

// read reads the resources of a file.
func (t *resourceTable) read(r *fileReader, h *fileHeader) {
	t.resources = make([]resource, h.Resources)
	r.each(h.Resources, len(uuid.UUID{}), func(i int, item []byte) { t.resources[i].id = uuid.UUID(item) })
	r.uint32s(h.Resources, func(i int, value uint32) { t.resources[i].original = symbol(value) })
	r.uint32s(h.Resources, func(i int, value uint32) { t.resources[i].creator = symbol(value) })
	labels := make([]pair, h.ResourceLabels)
	left := labels
	r.uint32s(h.Resources, func(i int, value uint32) {
		n := min(int(value>>1), len(left))
		t.resources[i].gone = value&1 != 0
		t.resources[i].labels, left = left[:n:n], left[n:]
	})
	r.pairs(labels)
}
