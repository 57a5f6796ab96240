// Package rebuild brings the archive of a metric into another schema.
//
// # Problem
//
// The schema of an archive is the granularities and columns of the policy by which it was last processed. When a policy
// gets others, or a metric gets another policy, millions of archives have the wrong schema at once. The measures that
// their aggregates were made of are mostly gone: the raw series reaches back as far as the back window only.
//
// # Idea
//
// An archive keeps its schema, and measures are processed by it, until its rebuild writes the new one, in one synced
// batch. Thus the archive itself tells its schema at any moment, also after any interruption. It is read only where the
// index says that a schema is pending.
//
// Aggregates that the archive has are kept. Missing ones are computed group by group: from all measures where the raw
// series has them, else from narrower groups, else they stay unknown. A group that begins before the raw series and
// accepts late measures takes its first part from narrower groups. That part is kept as a partial group, so that late
// measures can still change the group.
//
// # Invariants
//
//   - A rebuild never replaces a known aggregate by one of fewer measures.
//   - Repeating it changes nothing.
//   - An archive with bytes that do not decode keeps its schema: groups made of the rest would be wrong.
//   - Batch.Archives writes nothing itself. The sack commits the checkpoint, and drops the heads of changed archives.
//
// Start with archive_rebuild.go, which draws the times. docs/decisions/0028-rebuild.md has the reasons.
package rebuild
