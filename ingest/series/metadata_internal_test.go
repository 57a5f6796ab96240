package series

import (
	"fmt"
	"testing"
)

// Projects share the room for metadata. A project takes the place of one with more names only, and each name without a
// place is returned.
func TestMetadataIsShared(t *testing.T) {
	kept := metadata{known: map[string]map[string]Metadata{}}
	f := func(project string, from, to, want, without int) {
		t.Helper()
		var list []Metadata
		for i := from; i < to; i++ {
			list = append(list, Metadata{Name: fmt.Sprint("m", i), Kind: "counter"})
		}
		changed, refused := kept.add(project, list)
		if len(changed) != want || len(refused) != without {
			t.Errorf("%s, %d to %d: %d are kept and %d refused, want %d and %d", project, from, to, len(changed), len(refused),
				want, without)
		}
		total := 0
		for _, names := range kept.known {
			total += len(names)
		}
		if total != kept.count || total > maxMetadata {
			t.Errorf("%d names are kept, %d counted", total, kept.count)
		}
	}
	f("a", 0, maxMetadata+500, maxMetadata, 500)
	f("b", 0, 100, 100, 0)
	f("a", maxMetadata, maxMetadata+10, 0, 10)
	f("b", 0, 100, 0, 0) // is known
	f("c", 0, maxMetadata, (maxMetadata-100)/2, maxMetadata-(maxMetadata-100)/2)
	f("b", 0, 9000, maxMetadata/3-100, 9000-maxMetadata/3)
	for project, names := range kept.known {
		if n := len(names); n < maxMetadata/3-1 || n > maxMetadata/3+1 {
			t.Errorf("%s has %d names", project, n)
		}
	}
}
