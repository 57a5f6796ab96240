// Command gnocco-migrate is for sites that have, or had, a Gnocchi. It is a module of its own, as its dependencies are.
//
// It copies what a Gnocchi has into a data folder of Gnocco: definitions, history and aggregates, under the IDs that
// they have there. That stands before both paths: the folder it writes is one that no server has served yet.
//
// It also knows what Gnocchi's configuration means here (internal/gnocchiconf), and does under the names of Gnocchi's
// programs what these do (programs.go): gnocchi-api and gnocchi-metricd become gnocco, with the settings in its
// environment. gnocco asks it for the settings of a gnocchi.conf. docs/decisions/0053-installed-as-gnocchi.md says why.
//
// Read first: pass.go, one pass over a source; then source.go with rest.go, what a source gives; moments.go, how
// aggregates become the columns of groups; target.go, the folder. verify.go compares two servers by their REST API.
// docs/how-to/migrate-from-gnocchi.md is for people, docs/decisions/0052-migration.md says why.
//
// Invariants:
//   - The source is only read: by GET, SELECT and reading files.
//   - No server sees a half pass: the folder has another name until the pass is at its end.
//   - A pass replaces the data of a metric from an earlier one, so that a pass that was killed is repeated.
package main
