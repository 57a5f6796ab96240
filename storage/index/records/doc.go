// Package records encodes and decodes the index's values, and derives from a stored value the secondary keys of its
// record. It reads no store.
//
// A write appends a metric or a resource here; a read decodes it, one resource after another by a Decoder. Read
// resource_codec.go first, then inline_metrics.go: a resource's value lists the metrics that it was created with.
//
// Invariants:
//
//   - A decoder returns storage.ErrCorrupt for bytes that no encoder wrote, and never panics.
//   - Secondary keys follow from the stored value alone: the keys deleted do not depend on the present type.
//   - A View is valid until the next call and as long as its value stays; Decode and Keep return copies.
package records
