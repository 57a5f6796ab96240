// Package keyspace says how the index's keys look, and walks them: a prefix byte, then names, IDs, and values whose
// bytes sort as the values compare. It knows no stored value but the IDs that keys end with.
//
// Every look-up, search and write of storage/index goes by these keys. Read keys.go first, which names each kind, then
// sortable_values.go. A ValueIterator walks one range by value and ID; a MergingIterator walks several as one.
//
// Invariants: no text's encoding begins with another's, so equal values lie side by side; within one value keys ascend
// by ID in both directions. docs/format/index.md draws the bytes.
package keyspace
