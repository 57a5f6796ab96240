import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { promqlOf } from "./combined_chart";
import { countFound, findSeries, type Counts, type Facet, type Metric, type Series } from "./metrics";
import { Notice, useLoad } from "./widgets";
import { find } from "./paths";
import { change } from "./router";

const mostFacets = 6;

export interface FinderState {
  text: string;
  labels: [string, string][];
  series?: Series[];
  counts?: Counts;
  error?: string;
  empty: boolean;
}

// useFinder looks for the series that the address asks for. While there are none at all it looks again: the first may
// come any moment.
export function useFinder(params: URLSearchParams): FinderState {
  const { text, labels } = find(params);
  const all = !text && !labels.length && !params.has("m") && !params.has("q");
  const [waits, setWaits] = useState(false);
  const on = [text, labels.join("\n")],
    every = waits ? 1 : 15;
  const { value: series, error } = useLoad((signal) => findSeries(text, labels, signal), on, every);
  // Counting many series takes longer than finding the first of them, so it is a load of its own.
  const { value: counts, error: uncounted } = useLoad((signal) => countFound(text, labels, signal), on, every);
  const empty = all && series?.length === 0;
  useEffect(() => setWaits(empty), [empty]);
  return { text, labels, series, counts, error: error ?? uncounted, empty };
}

// Finder filters by words of the name and by labels, each with the number of series that have it.
export function Finder({ finder, chosen }: { finder: FinderState; chosen: Metric[] }) {
  const { text, labels, series, counts, error } = finder;
  const [typed, setTyped] = useState(text);
  const shown = useRef(text);
  useEffect(() => {
    if (text !== shown.current) {
      shown.current = text;
      setTyped(text);
    }
  }, [text]);
  useEffect(() => {
    if (typed === shown.current) return;
    const timer = setTimeout(() => {
      shown.current = typed;
      change({ find: typed || null }, true);
    }, 150);
    return () => clearTimeout(timer);
  }, [typed]);
  const picked = new Set(chosen.map((m) => m.id));
  const toggle = (s: Series) => {
    const ids = chosen.map((m) => m.id);
    change({ q: null, lang: null, m: ids.includes(s.id) ? ids.filter((id) => id !== s.id) : [...ids, s.id] });
  };
  const shownOfList = useGrowing(text + "\n" + labels.join("\n"), series?.length ?? 0);
  const list = useMemo(
    () =>
      series?.slice(0, shownOfList).map((s) => (
        <li key={s.id}>
          <button type="button" aria-pressed={picked.has(s.id)} title={about(s)} onClick={() => toggle(s)}>
            <span>{s.name}</span>
            <small>{place(s)}</small>
          </button>
        </li>
      )),
    [series, chosen, shownOfList],
  );
  const facets = counts ? choose(counts, labels) : [];
  return (
    <aside class="panel finder" aria-label="Find metrics">
      <div class="search">
        <input
          type="search"
          placeholder="Find metrics"
          aria-label="Find metrics by name"
          value={typed}
          onInput={(e) => setTyped(e.currentTarget.value)}
        />
        <button
          type="button"
          title="Draw an expression, in PromQL or as dynamic aggregates"
          onClick={() => change({ q: chosen.map(promqlOf).join(" or "), m: null, agg: null, g: null })}
        >
          ƒ(x)
        </button>
      </div>
      <div class="facets">
        {facets.map(({ name, values, counts }) => {
          const chosen = labels.find(([n]) => n === name)?.[1] ?? "";
          return (
            <select
              key={name}
              aria-label={label(name)}
              data-label={name}
              value={chosen}
              onChange={(e) =>
                change({
                  l: [
                    ...labels.filter(([n]) => n !== name),
                    ...(e.currentTarget.value ? [[name, e.currentTarget.value]] : []),
                  ].map((l) => l.join("=")),
                })
              }
            >
              <option value="">{label(name)}</option>
              {chosen && !counts.some((c) => c.name === chosen) && <option value={chosen}>{chosen}</option>}
              {counts.map((c) => (
                <option key={c.name} value={c.name}>
                  {c.name} ({c.value.toLocaleString("en")})
                </option>
              ))}
              {values > counts.length && (
                <option disabled>and {(values - counts.length).toLocaleString("en")} more</option>
              )}
            </select>
          );
        })}
      </div>
      {error && <Notice bad>{error}</Notice>}
      {counts && (
        <p class="hint" id="found">
          {counts.total === 1 ? "1 metric" : `${counts.total.toLocaleString("en")} metrics`}
        </p>
      )}
      <ul class="found">
        {list}
        {series && counts && shownOfList >= series.length && counts.total > series.length && (
          <li class="hint">
            and {(counts.total - series.length).toLocaleString("en")} more: type, or choose above, to narrow
          </li>
        )}
      </ul>
    </aside>
  );
}

// useGrowing is how many lines of a list to draw: those that are seen at once; the others follow while the browser has
// nothing else to do, so that charts do not wait for them. Another search begins anew.
function useGrowing(of: string, most: number): number {
  const [grown, grow] = useState({ of, lines: firstLines });
  const lines = grown.of === of ? grown.lines : firstLines;
  useEffect(() => {
    if (lines >= most) return;
    let idle = 0;
    const timer = setTimeout(
      () => {
        idle = requestIdleCallback(() => grow({ of, lines: lines + moreLines }), { timeout: 1000 });
      },
      lines === firstLines ? 250 : 0,
    );
    return () => {
      clearTimeout(timer);
      cancelIdleCallback(idle);
    };
  }, [of, lines, most]);
  return lines;
}

const firstLines = 40,
  moreLines = 65;

const titles: Record<string, string> = {
  resource_type: "Type",
  project_id: "Project",
  original_resource_id: "Resource",
  archive_policy: "Policy",
  unit: "Unit",
  user_id: "User",
};
const label = (name: string) => titles[name] ?? name;
const about = (s: Series) =>
  [s.name, s.resource, s.place[""], ...Object.entries(s.labels).map(([n, v]) => `${n}=${v}`)]
    .filter(Boolean)
    .join("\n");
const place = (s: Series) =>
  s.place[""] ?? s.labels.instance ?? Object.entries(s.labels).find(([n]) => n !== "resource_type")?.[1] ?? "";

// choose leaves out the facets that tell nothing apart.
function choose(found: Counts, labels: [string, string][]): Facet[] {
  const chosen = new Set(labels.map(([name]) => name)),
    order = Object.keys(titles).slice(0, 3);
  const rank = (f: Facet) => (chosen.has(f.name) ? 0 : order.indexOf(f.name) + 1 || (f.name in titles ? 99 : 9));
  return found.facets
    .filter((f) => chosen.has(f.name) || f.values > 1 || f.counts[0].value < found.total)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, mostFacets);
}
