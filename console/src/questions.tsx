import { bounds, order } from "./finder";
import { quantileBy, quantilesOf } from "./histograms";
import { isCounter, isNative, metricsOf, usualMethod } from "./metrics";
import type { Series } from "./metrics";
import { change } from "./router";

const ask = (q: string, view: string | null = null) => change({ q, view, lang: null, m: null, agg: null });

// Questions offers queries of the series of a name, which its selects.
export function Questions({ name, series, its }: { name: string; series: Series[]; its: string }) {
  if (series.length && (name.endsWith("_bucket") || series.every(isNative)))
    return (
      <>
        <Question text="Quantiles 0.5, 0.9, 0.99" asked={() => ask(quantilesOf(its, series[0]))} />
        {splitting(series).map((label) => (
          <Question
            key={label}
            text={`99th percentile by ${label}`}
            asked={() => ask(quantileBy(its, series[0], label))}
          />
        ))}
      </>
    );
  if (series.length < 2) return null;
  return <Question text="Highest now" asked={() => void highestOf(series, its).then((q) => ask(q, "instant"))} />;
}

const Question = ({ text, asked }: { text: string; asked: () => void }) => (
  <li>
    <button type="button" class="all" onClick={asked}>
      {text}
    </button>
  </li>
);

// splitting is the labels by which a histogram's series differ, as far as they say where it was measured.
function splitting(series: Series[]): string[] {
  const values = new Map<string, Set<string>>();
  for (const { labels } of series)
    for (const [name, value] of Object.entries(labels)) values.set(name, (values.get(name) ?? new Set()).add(value));
  const places = [...values].filter(([name, all]) => all.size > 1 && !bounds.has(name)).map(([name]) => name);
  const rank = (name: string) => order.indexOf(name) + 1 || 9;
  return places.sort((a, b) => rank(a) - rank(b)).slice(0, 3);
}

// highestOf is a query for the series of a name that are highest over ten minutes, or over three groups.
async function highestOf(series: Series[], selector: string): Promise<string> {
  const [metric] = await metricsOf(series.slice(0, 1)),
    span = `[${Math.max(600, 3 * metric.policy.items[0].granularity)}s]`;
  if (isCounter(metric)) return `topk(40, rate(${selector}${span}))`;
  const method = usualMethod(metric);
  return `topk(40, avg_over_time(${method === "mean" ? selector : selector.replace(/}$/, `,__aggregation__="${method}"}`)}${span}))`;
}
