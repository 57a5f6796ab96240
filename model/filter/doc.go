// Package filter decides which resources a search is after. A filter comes as a JSON tree (tree.go) or as text
// (text.go); both become an Expr, which is checked against a resource type and becomes a Filter (compile.go) that tells
// resource by resource whether it matches.
//
//	{"and": [{"=": {"project_id": "p"}}, {"like": {"host": "web%"}}]}
//	project_id = 'p' and host like 'web%'
//
// A comparison means the same as in SQL, since Gnocchi hands its filters to a database:
//
//   - A comparison with an attribute that is null is neither true nor false, and stays so under "not": neither host =
//     'a' nor not host = 'a' finds a resource without a host. host != 'a' does, though, and so does host = null.
//   - In like, "%" is any text, "_" one character, and "\" takes the next character as it is. Case counts.
//   - Texts are compared by their bytes, other values by their kind: numbers, times (to the microsecond, as they are
//     shown), true above false.
//
// Read expr.go first. The invariants: parsing any bytes ends in an Expr or an error for the client, and an Expr of any
// depth that parsing lets through is evaluated without failing.
package filter
