// counts: how many values each run has, for those who want no other moment: none of them is read.
//
// In: runs (group_runs.h), rows of open groups (OPEN_VALUES f64 per series). Out: a column (f64) with a row per run. Bytes: 4 and 8 a run.
// Launch: 128 threads, a run each.
#include "moments.h"

KERNEL(128) counts(Runs runs, const f64 *open, f64 *out) {
  const u32 r = block_id() * 128 + thread_id();
  if (r >= load(runs.total)) return;
  const Run run = run_at(runs, r);
  out[r] = (run.continued >= 0 ? open[(u64)run.continued * OPEN_VALUES + COUNT] : 0) + (run.end - run.begin);
}
EXPORT(counts)
