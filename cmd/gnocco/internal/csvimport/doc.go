// Package csvimport reads measures from CSV and sends them to a server through its REST API.
//
// A Reader gives the records (start here), columns says which of their fields is the timestamp and which are metrics,
// and an Importer makes batches of them. Files may be larger than memory.
//
// A metric's measures arrive in the order in which they stand in the files: which measures are too old is judged
// request by request, so two requests must not overtake one another. Each metric belongs to one sender, senders send
// one request at a time, and requests are in flight at once because there are several senders.
package csvimport
