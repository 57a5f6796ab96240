// Package search finds and reads the index's resources, live and past: by filter, in an order, page by page.
//
// It is on the way of every search of resources and of every aggregate across one. Resources.FindResources chooses the
// shortest of five ways; read search.go first, then candidates.go and page_order.go, which take two of them.
//
// A search reads a snapshot, so it waits for no write and holds no lock of the store. Its own lock guards the page that
// its goroutines fill, and the caller's Visible. Invariants:
//
//   - By any of the ways, a search finds the same resources as a scan of all.
//   - Types are asked for after the resources were found: a type is there before its resources. Those that went in
//     between are known from before.
//   - An answer waits until everything that was read is durable.
package search
