import { read } from "./api";
import { readArchive, type Metric, type Rows } from "./metrics";
import { metricPath } from "./paths";
import type { Range } from "./range";

// wholeSpan returns the range from the oldest group of the first eight metrics to their newest measure.
export async function wholeSpan(metrics: Metric[], signal?: AbortSignal): Promise<Range | null> {
  const spans = await Promise.all(
    metrics.slice(0, 8).map(async ({ id, policy }) => {
      const item = policy.items.reduce((a, b) => (b.timespan > a.timespan ? b : a)),
        step = item.granularity * Math.ceil(item.points / 300);
      const ask = async (more: Record<string, string>) =>
        (
          await read<Rows>(
            `${metricPath(id)}/measures?` +
              new URLSearchParams({ granularity: String(item.granularity), aggregation: policy.methods[0], ...more }),
            undefined,
            signal,
          )
        ).map(([time]) => Date.parse(time) / 1000);
      const [coarse, { raw }] = await Promise.all([ask({ resample: String(step) }), readArchive(id, signal)]);
      if (!coarse.length) return [Infinity, 0];
      const [first = coarse[0]] = await ask({ start: String(coarse[0]), stop: String(coarse[0] + step) });
      return [
        first,
        raw.newest ? Date.parse(raw.newest) / 1000 + policy.items[0].granularity : coarse[coarse.length - 1] + step,
      ];
    }),
  );
  const from = Math.min(...spans.map(([first]) => first)),
    to = Math.max(...spans.map(([, last]) => last));
  return from < to ? { from, to, live: false, span: to - from } : null;
}
