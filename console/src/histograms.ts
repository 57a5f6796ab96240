import { read } from "./api";
import { unitOf } from "./format";
import type { Columns, Matrix, Metric, Series } from "./metrics";
import { quote, selector } from "./paths";
import { change } from "./router";

const named = (quantile: string, query: string) =>
    `label_replace(histogram_quantile(${quantile}, ${query}), "quantile", "${quantile}", "", "")`,
  three = (query: string) => ["0.5", "0.9", "0.99"].map((q) => named(q, query)).join(" or ");

// windowOf is how far a query looks back: so many minutes, or three groups.
export const windowOf = (metric: Metric | undefined, minutes: number) =>
  `[${Math.ceil(Math.max(minutes, (metric?.policy.items[0].granularity ?? 0) / 20))}m]`;

// summed is a query for the sum of the histograms, by a label if one is given, to which one of the selected series
// belongs.
function summed(selector: string, { labels }: Series, metric?: Metric, by: string[] = []): string {
  const part = labels.__histogram__ ?? "",
    kept = part ? by : ["le", ...by];
  return (
    "sum" +
    (kept.length ? ` by (${kept.join(", ")}) ` : "") +
    (part.startsWith("gauge:") ? `(${selector})` : `(rate(${selector}${windowOf(metric, 5)}))`)
  );
}

// quantilesOf is a query for three quantiles of the histograms to which a series belongs.
export const quantilesOf = (selector: string, series: Series, metric?: Metric) =>
  three(summed(selector, series, metric));

// quantileBy is a query for the 99th percentile of histograms by a label.
export const quantileBy = (selector: string, series: Series, metric: Metric | undefined, label: string) =>
  `histogram_quantile(0.99, ${summed(selector, series, metric, [/^[A-Za-z_]\w*$/.test(label) ? label : quote(label)])})`;

// quantilesIn is a query for three quantiles of the native histograms that another one gives.
export const quantilesIn = (query: string) => three(`(${query})`);

// drawNative draws a native histogram.
export function drawNative(series: Series) {
  const { __histogram__: _, ...labels } = series.labels,
    its = selector("", [...Object.entries(labels), ["__name__", series.name]]);
  change({ q: quantilesOf(its, series), view: null, lang: null, m: null, agg: null });
}

// readQuantiles reads three quantiles of histograms, by the name and the filters of a series of them, as metrics of
// their own.
export async function readQuantiles(
  metric: Metric,
  series: Series,
  labels: [string, string][],
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<{ query: string; columns: Columns[] }> {
  const item = metric.policy.items[0],
    step = Math.max(item.granularity, Math.ceil((to - from) / 300)),
    query = quantilesOf(selector("", [...labels, ["__name__", series.name]]), series, metric),
    unit = unitOf(series.name.replace(/_bucket$/, ""), metric.unit);
  const { data } = await read<Matrix>(
    "/api/v1/query_range?" +
      new URLSearchParams({
        query,
        start: String(Math.ceil(from / step) * step),
        end: String(Math.floor(to / step) * step),
        step: String(step),
      }),
    undefined,
    signal,
  );
  const columns = data.result.map(({ metric: { quantile }, values }, i) => ({
    metric: { ...metric, id: i ? metric.id + quantile : metric.id, name: quantile, unit, place: {}, type: "gauge" },
    item: { ...item, granularity: step },
    times: values.map(([time]) => time),
    values: { quantile: values.map(([, v]) => (Number.isFinite(+v) ? +v : null)) },
  }));
  if (!columns.length)
    columns.push({
      metric: { ...metric, name: series.name, unit, place: {}, type: "gauge" },
      item,
      times: [],
      values: { quantile: [] },
    });
  return { query, columns };
}
