import { useEffect, useRef, useState } from "preact/hooks";
import { promqlOf } from "./overlay";
import { find, keyOf, metricOf, type Found, type Metric, type Series } from "./metrics";
import { Notice, useLoad } from "./parts";
import { change } from "./router";

const mostShown = 300, mostCounted = 2000;

export interface FinderState { text: string; labels: [string, string][]; found?: Found; error?: string; empty: boolean }

// useFinder looks for the series that the address asks for. While there are none at all it looks again: the first may come any moment.
export function useFinder(params: URLSearchParams): FinderState {
  const text = params.get("find") ?? "";
  const labels = params.getAll("l").map((l) => l.split(/=(.*)/s).slice(0, 2) as [string, string]);
  const all = !text && !labels.length && !params.has("m") && !params.has("q");
  const [waits, setWaits] = useState(false);
  const { value: found, error } = useLoad((signal) => find(text, labels, mostCounted, signal), [text, labels.join("\n")], waits ? 1 : 15);
  const empty = all && !!found && found.series.length === 0;
  useEffect(() => setWaits(empty), [empty]);
  return { text, labels, found, error, empty };
}

// Finder filters by words of the name and by labels, each with the number of series that have it.
export function Finder({ finder, chosen }: { finder: FinderState; chosen: Metric[] }) {
  const { text, labels, found, error } = finder;
  const [typed, setTyped] = useState(text);
  const shown = useRef(text);
  useEffect(() => { if (text !== shown.current) { shown.current = text; setTyped(text); } }, [text]);
  useEffect(() => {
    if (typed === shown.current) return;
    const timer = setTimeout(() => { shown.current = typed; change({ find: typed || null }, true); }, 150);
    return () => clearTimeout(timer);
  }, [typed]);
  const picked = new Set(chosen.map(keyOf));
  const toggle = async (s: Series) => {
    const metric = await metricOf(s);
    const ids = chosen.map((m) => m.id);
    change({ q: null, lang: null, m: ids.includes(metric.id) ? ids.filter((id) => id !== metric.id) : [...ids, metric.id] });
  };
  const counted = found ? facets(found.series) : [];
  return (
    <aside class="panel finder" aria-label="Find metrics">
      <div class="search"><input type="search" placeholder="Find metrics" aria-label="Find metrics by name" value={typed} onInput={(e) => setTyped(e.currentTarget.value)} /><button type="button" title="Draw an expression, in PromQL or as dynamic aggregates" onClick={() => change({ q: chosen.map(promqlOf).join(" or "), m: null, agg: null, g: null })}>ƒ(x)</button></div>
      <div class="facets">
        {counted.map(([name, values]) => (
          <select key={name} aria-label={label(name)} value={labels.find(([n]) => n === name)?.[1] ?? ""} onChange={(e) => change({ l: [...labels.filter(([n]) => n !== name), ...(e.currentTarget.value ? [[name, e.currentTarget.value]] : [])].map((l) => l.join("=")) })}>
            <option value="">{label(name)}</option>
            {values.map(([value, n]) => <option key={value} value={value}>{value} ({n})</option>)}
          </select>
        ))}
      </div>
      {error && <Notice bad>{error}</Notice>}
      {found && <p class="hint" id="found">{found.truncated ? `more than ${mostCounted.toLocaleString("en")} metrics: type to narrow` : found.series.length === 1 ? "1 metric" : `${found.series.length.toLocaleString("en")} metrics`}</p>}
      <ul class="found">
        {found?.series.slice(0, mostShown).map((s) => (
          <li key={keyOf(s) + JSON.stringify(s.labels)}><button type="button" aria-pressed={picked.has(keyOf(s))} title={about(s)} onClick={() => void toggle(s)}><span>{s.name}</span><small>{place(s)}</small></button></li>
        ))}
        {found && found.series.length > mostShown && <li class="hint">and {found.series.length - mostShown} more</li>}
      </ul>
    </aside>
  );
}

const label = (name: string) => ({ resource_type: "Type", project_id: "Project", resource_id: "Resource" })[name] ?? name;
const about = (s: Series) => [s.name, s.resource, ...Object.entries(s.labels).map(([n, v]) => `${n}=${v}`)].filter(Boolean).join("\n");
const place = (s: Series) => Object.entries(s.labels).find(([n]) => n !== "resource_type")?.[1] ?? (s.labels.resource_type === "generic" ? "" : s.labels.resource_type);

// facets counts the values of each label, resources among them; those that tell nothing apart are left out.
function facets(series: Series[]): [string, [string, number][]][] {
  const all = new Map<string, Map<string, number>>();
  const count = (name: string, value: string) => {
    const values = all.get(name) ?? new Map<string, number>();
    all.set(name, values.set(value, (values.get(value) ?? 0) + 1));
  };
  for (const s of series) {
    for (const [name, value] of Object.entries(s.labels)) count(name, value);
    if (s.resource) count("resource_id", s.resource);
  }
  const rank = (name: string) => ["resource_type", "project_id", "resource_id"].indexOf(name) + 1 || 9;
  return [...all].sort((a, b) => rank(a[0]) - rank(b[0])).slice(0, 6)
    .map(([name, values]) => [name, [...values].sort((a, b) => b[1] - a[1]).slice(0, 50)]);
}
