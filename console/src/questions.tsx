import { useMemo, useState } from "preact/hooks";
import { about, breakable, order, place, toggle, type NameProps } from "./finder";
import { whole } from "./format";
import { quantileBy, quantilesOf, windowOf } from "./histograms";
import { bounds, byName, findSeries, isCounter, isNative, metricsOf, titles, usualMethod } from "./metrics";
import type { Metric, Series } from "./metrics";
import { mostFound, selector } from "./paths";
import { change } from "./router";
import { Notice, useLoad } from "./widgets";

const ask = (q: string, view: string | null = null) => change({ q, view, lang: null, m: null, agg: null });

const mostOfName = 40; // series of a name that one chart has

// Members are the series of a name.
export function Members({ name, value: count, text, labels, chosen }: NameProps) {
  const [most, setMost] = useState(mostFound);
  const { value, error } = useLoad(
    async (signal) => {
      const series = await findSeries(text, [...labels, ["__name__", name]], signal, most);
      // Questions stand above the series: they come at once, so that nothing moves below the pointer.
      const [first] = await metricsOf(series.slice(0, 1));
      return { series, first };
    },
    [name, text, labels.join("\n"), most],
  );
  const series = value?.series;
  const rows = useMemo(() => {
    const distinct = titles(series ?? []).map((title) => title.slice(name.length).replace(/^ · /, ""));
    return byName(
      (series ?? []).map((s, i) => ({ s, title: distinct[i] || place(s) || s.id })),
      (row) => row.title,
    );
  }, [series]);
  if (error) return <Notice bad>{error}</Notice>;
  if (!value || !series) return <p class="hint">Reading …</p>;
  const all = rows.slice(0, mostOfName),
    its = selector("", [...labels, ["__name__", name]]);
  return (
    <ul>
      <Questions {...{ name, series, its }} metric={value.first} />
      {!series.some(isNative) && (
        <li>
          <button
            type="button"
            class="all"
            onClick={() => change({ q: null, lang: null, m: all.map(({ s }) => s.id) })}
          >
            {series.length > mostOfName ? `The first ${mostOfName} on one chart` : `All ${series.length} on one chart`}
          </button>
        </li>
      )}
      {rows.map(({ s, title }) => (
        <li key={s.id}>
          <button
            type="button"
            aria-pressed={chosen.some((m) => m.id === s.id)}
            title={about(s)}
            onClick={() => toggle(chosen, s)}
          >
            <span>{breakable(title)}</span>
          </button>
        </li>
      ))}
      {rows.length < count && (
        <li>
          <button type="button" class="all" onClick={() => setMost(4 * most)}>
            {whole(rows.length)} of {whole(count)}: show more
          </button>
        </li>
      )}
    </ul>
  );
}

interface Asked {
  name: string;
  series: Series[];
  metric?: Metric; // the first of them
  its: string; // selects them
}

// Questions offers queries of the series of a name.
function Questions({ name, series, metric, its }: Asked) {
  if (series.length && (name.endsWith("_bucket") || series.every(isNative)))
    return (
      <>
        <Question text="Quantiles 0.5, 0.9, 0.99" asked={() => ask(quantilesOf(its, series[0], metric))} />
        {splitting(series).map((label) => (
          <Question
            key={label}
            text={`99th percentile by ${label}`}
            asked={() => ask(quantileBy(its, series[0], metric, label))}
          />
        ))}
      </>
    );
  if (series.length < 2 || !metric) return null;
  const kept = metric.policy.methods.map((m) => /^([\d.]+)pct$/.exec(m)?.[1] ?? 0),
    percentile = Math.max(...kept.map(Number));
  return (
    <>
      {series.some(({ labels }) => labels.mode === "idle") && (
        <Question text="Busiest instance" asked={() => ask(busiestOf(metric, its), "instant")} />
      )}
      <Question text="Highest now" asked={() => ask(highestOf(metric, its), "instant")} />
      {percentile > 0 && !isCounter(metric) && (
        <Question text={`${percentile}th percentile of each`} asked={() => ask(by(its, `${percentile}pct`))} />
      )}
    </>
  );
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

// by selects the same series, by one of their aggregation methods.
const by = (selector: string, method: string) => selector.replace(/}$/, `,__aggregation__="${method}"}`);

// busiestOf is a query for the share of time that the processors of each instance work, from their seconds by mode.
function busiestOf(metric: Metric, selector: string): string {
  const spent = (s: string) => `sum by (instance) (rate(${s}${windowOf(metric, 10)}))`;
  return `100 * ${spent(selector.replace(/}$/, ',mode!~"idle|iowait"}'))} / ${spent(selector)}`;
}

// highestOf is a query for the series of a name that are highest over ten minutes, or over three groups.
function highestOf(metric: Metric, selector: string): string {
  const span = windowOf(metric, 10);
  if (isCounter(metric)) return `topk(40, rate(${selector}${span}))`;
  const method = usualMethod(metric);
  return `topk(40, avg_over_time(${method === "mean" ? selector : by(selector, method)}${span}))`;
}
