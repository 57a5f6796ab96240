import { read } from "./api";
import { perSecond, timespan, unitOf, type Unit } from "./format";
import {
  beginning,
  chosenPath,
  countPath,
  countPaths,
  exactPath,
  foundPath,
  metricPath,
  mostFound,
  namesPath,
  nowhere,
  policiesPath,
  quote,
  rankOf,
  selector,
} from "./paths";
import type { Range } from "./range";

export interface Item {
  granularity: number;
  points: number;
  timespan: number;
}
export interface Policy {
  name: string;
  items: Item[];
  methods: string[];
  backWindow: number;
} // finest granularity first
export type Labels = Record<string, string>;

export interface Metric {
  id: string;
  name: string | null;
  unit: string | null;
  creator?: string;
  resource: string | null;
  kind?: string;
  place: Labels;
  policy: Policy;
  type?: string;
  guessed?: boolean;
} // creator, and kind, its resource's type: if it was read by its ID; guessed: nobody said its type

interface APIPolicy {
  name: string;
  back_window: number;
  aggregation_methods: string[];
  definition: { granularity: string; points: number; timespan: string }[];
}
interface APIMetric {
  id: string;
  name: string | null;
  unit: string | null;
  creator: string;
  type?: string | null;
  type_guess?: string | null;
  resource_id: string | null;
  resource?: { id: string; type: string; original_resource_id?: string } | null;
  labels?: Labels;
  archive_policy: APIPolicy;
}

export function readPolicy(p: APIPolicy): Policy {
  const items = p.definition.map((d) => ({
    granularity: timespan(d.granularity),
    points: d.points,
    timespan: timespan(d.timespan),
  }));
  items.sort((a, b) => a.granularity - b.granularity);
  return { name: p.name, items, methods: p.aggregation_methods, backWindow: p.back_window };
}

const known = new Map<string, Metric>();

function keep(m: APIMetric): Metric {
  const resource = m.resource_id ?? m.resource?.id ?? null;
  const place = resource ? { "": m.resource?.original_resource_id || resource } : (m.labels ?? {});
  const metric = {
    id: m.id,
    name: m.name,
    unit: m.unit,
    creator: m.creator,
    resource,
    kind: m.resource?.type,
    place,
    policy: readPolicy(m.archive_policy),
    type: m.type ?? m.type_guess ?? undefined,
    guessed: !m.type,
  };
  known.set(m.id, metric);
  return metric;
}

// readMetric asks the server, also for what it has told.
export const readMetric = async (id: string, signal?: AbortSignal) =>
  keep(await read<APIMetric>(metricPath(id), undefined, signal));
const metricByID = async (id: string) => known.get(id) ?? readMetric(id);

// chosenMetrics are the metrics of these IDs, or why there are none: of several, those that can be searched for by one
// request.
export async function chosenMetrics(ids: string[]): Promise<PromiseSettledResult<Metric>[]> {
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 1)
    await listSeries(chosenPath(missing)).then(metricsOf, () => {
      /* each is asked for */
    });
  return Promise.allSettled(ids.map(metricByID));
}

let policies: Promise<Map<string, Policy>> | undefined;

// policiesWith returns the archive policies by name. They are asked for again as soon as one of these is not known.
async function policiesWith(names: string[]): Promise<Map<string, Policy>> {
  const had = await policies?.catch(() => undefined);
  if (had && names.every((name) => had.has(name))) return had;
  policies = read<APIPolicy[]>(policiesPath).then((all) => new Map(all.map((p) => [p.name, readPolicy(p)])));
  return policies;
}

// A Series is a metric as the index of labels knows it. Place is what tells it from others of its name: what its
// resource is called, or the labels that it was pushed with. Of is what Gnocchi calls the metric, whatever names PromQL
// has, its unit and its archive policy.
export interface Series {
  id: string;
  name: string;
  resource: string;
  place: Labels;
  labels: Labels;
  of: { name: string | null; unit: string | null; policy: string; type?: string; guessed: boolean };
}

// isNative reports whether a series stands for a native histogram.
export const isNative = ({ labels }: Series) => Boolean(labels.__histogram__);

// titles returns the names of metrics, and behind those that several have what differs between these.
export function titles(metrics: { id: string; name: string | null; place: Labels }[]): string[] {
  const all = new Map<string | null, Labels[]>();
  for (const { name, place } of metrics) all.set(name, [...(all.get(name) ?? []), place]);
  return metrics.map(({ id, name, place }) => {
    const differs = Object.entries(place).filter(
      ([label, value]) => label !== "__name__" && all.get(name)!.some((other) => other[label] !== value),
    );
    return (
      (name ?? id) +
      (name && differs.length
        ? " · " + differs.map(([label, value]) => (label ? `${label}=${value}` : value)).join(", ")
        : "")
    );
  });
}

// metricsOf returns the metrics of series. Those whose archive policy is not told are asked for one by one.
export async function metricsOf(all: Series[]): Promise<Metric[]> {
  const missing = all.filter((s) => !known.has(s.id));
  if (missing.length) {
    const policies = await policiesWith(missing.map((s) => s.of.policy)).catch(() => new Map<string, Policy>());
    for (const { id, resource, place, of } of missing) {
      const policy = policies.get(of.policy);
      if (policy) known.set(id, { id, ...of, resource: resource || null, place, policy });
    }
  }
  return (await Promise.all(all.map((s) => metricByID(s.id).catch(() => null)))).filter((m): m is Metric => m !== null);
}

// A Facet is how many series have each value of a label, the most frequent first.
export interface Facet {
  name: string;
  values: number;
  counts: { name: string; value: number }[];
}
export interface Counts {
  total: number;
  facets: Facet[];
}
interface Counted {
  total: number;
  labels: Facet[];
}

// countFound returns how many series there are, and how many of them have each label. A label that is filtered by shows
// the other values that there are, too.
export async function countFound(text: string, labels: [string, string][], signal?: AbortSignal): Promise<Counts> {
  const [all, ...filtered] = await Promise.all(
    countPaths(text, labels).map(async (path) => (await read<{ data: Counted }>(path, undefined, signal)).data),
  );
  const own = new Map(filtered.flatMap((c) => c.labels.map((l) => [l.name, l])));
  return { total: all.total, facets: [...own.values(), ...all.labels.filter((l) => !own.has(l.name))] };
}

// countNames returns how many series have each name, those first that are what somebody typed, and by name.
export async function countNames(text: string, labels: [string, string][], signal?: AbortSignal): Promise<Facet> {
  const { data } = await read<{ data: Counted }>(namesPath(text, labels), undefined, signal);
  const names = data.labels[0] ?? { name: "", values: 0, counts: [] };
  return { ...names, counts: byName(names.counts, (c) => rankOf(c.name, text) + c.name) };
}

// byName sorts by names, without their case, and the numbers in them by value. Hundreds of series share a name.
export function byName<T>(all: T[], nameOf: (one: T) => string, thenBy = (_: T) => ""): T[] {
  const keys = new Map<string, string>();
  const key = (name: string) => {
    if (!keys.has(name))
      keys.set(
        name,
        name.toLowerCase().replace(/\d+/g, (n) => n.padStart(20, "0")),
      );
    return keys.get(name)!;
  };
  const sorted = all.map((one) => ({ one, key: key(nameOf(one)) + "\n" + thenBy(one) }));
  return sorted.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ one }) => one);
}

// hostOf is what people call a resource: where its ID is a UUID, the attribute that has a name.
export const hostOf = (labels: Labels, original = "") =>
  /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(original)
    ? labels.display_name || labels.host_name || labels.host || labels.name || original
    : original;

export async function listSeries(path: string, signal?: AbortSignal): Promise<Series[]> {
  const answer = await read<{ data: Record<string, string>[] }>(path, undefined, signal);
  const series = answer.data.map(
    ({
      __name__: name,
      metric_id: id,
      metric_name,
      metric_unit,
      metric_type: type,
      metric_type_guess: guess,
      archive_policy,
      resource_id: resource = "",
      original_resource_id: original,
      ...labels
    }) => ({
      id,
      name,
      resource,
      place: resource ? { "": hostOf(labels, original) || resource } : labels,
      labels,
      of: {
        name: metric_name ?? null,
        unit: metric_unit ?? null,
        policy: archive_policy,
        type: type ?? guess,
        guessed: !type,
      },
    }),
  );
  return byName(
    series,
    (s) => s.name,
    (s) => s.resource,
  );
}

// findSeries returns the first series that are found, those before others that are what somebody typed.
export async function findSeries(
  text: string,
  labels: [string, string][],
  signal?: AbortSignal,
  most = mostFound,
): Promise<Series[]> {
  let found = await listSeries(foundPath(text, labels, most), signal);
  if (!text.trim()) return found;
  if (found.length === most) {
    const first = await listSeries(exactPath(text, labels), signal);
    found = [...new Map([...first, ...found].map((s) => [s.id, s])).values()];
  }
  const rank = (s: Series) =>
    Math.min(...[s.name, s.resource, s.id, ...Object.values({ ...s.place, ...s.labels })].map((t) => rankOf(t, text)));
  return found
    .map((s) => ({ s, rank: Math.min(rankOf(s.name, text), rank(s) + 0.5) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ s }) => s);
}

// A Value is a label's value that is what somebody typed, and how many series have it.
export interface Value {
  label: string;
  value: string;
  series: number;
  rank: number;
}

const mostValues = 20;

// findValues returns the values of labels that are what somebody typed, the best first.
export async function findValues(text: string, labels: [string, string][], signal?: AbortSignal): Promise<Value[]> {
  if (!text.trim()) return [];
  const lists = await Promise.all(
    [beginning(text, labels, true), beginning(text, labels), selector(text, labels)].map(
      async (match) => (await read<{ data: Counted }>(countPath(match, []), undefined, signal)).data.labels,
    ),
  );
  const found = new Map<string, Value>();
  for (const { name, counts } of lists.flat()) {
    if (name === "unit" || name === "archive_policy" || bounds.has(name)) continue;
    for (const { name: value, value: series } of counts) {
      const rank = rankOf(text.includes("=") ? name + "=" + value : value, text),
        key = name + "=" + value;
      if (rank < nowhere && series > (found.get(key)?.series ?? 0))
        found.set(key, { label: name, value, series, rank });
    }
  }
  return byName([...found.values()], (v) => v.rank + v.value)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, mostValues);
}

// bounds are labels of histograms and summaries, and no place.
export const bounds = new Set(["le", "quantile", "__histogram__"]);

// archiveFor returns the item of the policy to draw from: the finest one that still has the beginning, and not more
// groups than there are pixels; else the coarsest of those that have the beginning.
export function archiveFor(policy: Policy, from: number, to: number, pixels: number, now = Date.now() / 1000): Item {
  const has = policy.items.filter((i) => now - i.timespan <= from + i.granularity);
  const fits = has.find((i) => (to - from) / i.granularity <= pixels);
  if (fits) return fits;
  if (has.length) return has[has.length - 1];
  return policy.items.reduce((a, b) => (b.timespan > a.timespan ? b : a));
}

// Columns are the aggregates of a metric: a column for each method, null where it has no value. Rates are over a window
// of seconds.
export interface Columns {
  window?: number;
  metric: Metric;
  item: Item;
  times: number[];
  values: Record<string, (number | null)[]>;
  infinite?: number; // values that no chart can draw
}

export type Rows = [string, number, number | null][];

// readColumns reads aggregates of many metrics, by one request for each archive policy and granularity. Methods that a
// metric's policy does not have are left out.
export async function readColumns(
  metrics: Metric[],
  methods: string[],
  from: number,
  to: number,
  choose: (p: Policy) => Item,
  signal?: AbortSignal,
): Promise<Columns[]> {
  const groups = new Map<string, { item: Item; methods: string[]; metrics: Metric[] }>();
  for (const metric of metrics) {
    const item = choose(metric.policy);
    let have = methods.filter((m) => metric.policy.methods.includes(m));
    if (!have.length) have = metric.policy.methods.slice(0, 1);
    const key = JSON.stringify([item, have]);
    const group = groups.get(key) ?? { item, methods: have, metrics: [] };
    groups.set(key, group);
    group.metrics.push(metric);
  }
  const found = new Map<string, Columns>();
  await Promise.all(
    [...groups.values()].map(async ({ item, methods, metrics }) => {
      const start = Math.floor(from / item.granularity) * item.granularity;
      const query = new URLSearchParams({
        start: String(start),
        stop: String(Math.ceil(to)),
        granularity: String(item.granularity),
        fill: "null",
      });
      const operations = ["metric", ...metrics.flatMap((m) => methods.map((method) => [m.id, method]))];
      const answer = await read<{ measures: Record<string, Record<string, Rows>> }>(
        "/v1/aggregates?" + query,
        { operations },
        signal,
      );
      const times = (Object.values(Object.values(answer.measures)[0] ?? {})[0] ?? []).map(
        ([time]) => Date.parse(time) / 1000,
      );
      for (const metric of metrics)
        found.set(metric.id, columns(metric, item, times, answer.measures[metric.id] ?? {}));
    }),
  );
  return metrics.map((m) => found.get(m.id)!).filter(Boolean);
}

// columns leaves out the times at which a metric has nothing: fill gives all series of an answer the same ones. Metrics
// that have them all share the array.
function columns(metric: Metric, item: Item, times: number[], rows: Record<string, Rows>): Columns {
  const all = Object.entries(rows).map(
    ([method, rows]) => [method, rows.map(([, , value]) => (isFinite(value!) ? value : null))] as const,
  );
  const has = (_: unknown, i: number) => all.some(([, values]) => values[i] !== null);
  const whole = times.every(has);
  const kept = <T>(list: T[]) => (whole ? list : list.filter(has));
  return {
    metric,
    item,
    infinite: times.filter((_, i) => Object.values(rows).some((r) => !isFinite(r[i]?.[2] ?? 0))).length,
    times: kept(times),
    values: Object.fromEntries(all.map(([method, values]) => [method, kept(values)])),
  };
}

// isCounter reports whether rates of a metric can be read: it only grows, as the API says, else by its policy, which
// counters of remote write have; and its policy has what rates are computed from.
export const isCounter = ({ type, policy: { methods } }: Metric) =>
  methods.some((m) => m === "last" || m === "max") &&
  (type ? type === "counter" || type === "histogram" : methods.includes("increase"));

// shownUnit is the unit of a metric's values, or of a counter's rates.
export const shownUnit = (m: Metric, rated = true): Unit => {
  const unit = unitOf(m.name ?? "", m.unit);
  return rated && isCounter(m) ? perSecond(unit) : unit;
};

// usualMethod is what a chart of a metric shows: of Ceilometer's counters, which have no rates, by how much they grow
// from group to group.
export const usualMethod = ({ policy: { methods } }: Metric) =>
  methods.includes("rate:mean") && !methods.some((m) => m === "last" || m === "max") ? "rate:mean" : "mean";

const placeOf = ({ __name__: _, ...labels }: Labels) =>
  labels.resource_id ?? JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

export interface Matrix {
  data: { result: { metric: Labels; values: [number, string][] }[] };
}

// infinities counts the values of PromQL that no chart can draw.
export const infinities = (values: [number, string][]) => values.filter(([, v]) => v.endsWith("Inf")).length;

// infinite says how many values are left out.
export const infinite = (n: number) => (n ? `${n} infinite, not drawn` : "");
export const infiniteOf = (all: Columns[]) => infinite(all.reduce((sum, c) => sum + (c.infinite ?? 0), 0));

const windows = new Map<string, number>(); // over which rates are read

// readRates reads what counters grow by in a second, by one request for each name. It is over one group, or over the
// shortest of some windows that has enough measures for a rate at most steps.
export async function readRates(
  metrics: Metric[],
  from: number,
  to: number,
  choose: (p: Policy) => Item,
  signal?: AbortSignal,
): Promise<Columns[]> {
  const groups = new Map<string, { item: Item; metrics: Metric[] }>();
  for (const metric of metrics) {
    const item = choose(metric.policy),
      key = JSON.stringify([metric.name, item]);
    const group = groups.get(key) ?? { item, metrics: [] };
    groups.set(key, group);
    group.metrics.push(metric);
  }
  const all = await Promise.all(
    [...groups].map(async ([key, { item, metrics }]) => {
      const step = item.granularity,
        selected = `{metric_id=~${quote(metrics.map((m) => m.id).join("|"))}}`;
      const ask = async (window: number) =>
        (
          await read<Matrix>(
            "/api/v1/query_range?" +
              new URLSearchParams({
                query: `rate(${selected}[${window}s])`,
                start: String(Math.ceil(from / step) * step),
                end: String(Math.floor(to / step) * step),
                step: String(step),
              }),
            undefined,
            signal,
          )
        ).data.result;
      let result: Matrix["data"]["result"] = [],
        window = 0,
        had = 0;
      for (const w of windows.has(key) ? [windows.get(key)!] : [step, 2 * step, 60, 300]) {
        if (w < window) continue;
        const next = await ask(w);
        let values = 0,
          steps = 0;
        for (const { values: v } of next) {
          values += v.length;
          steps += (v[v.length - 1][0] - v[0][0]) / step + 1;
        }
        if (values > 1.25 * had) [result, window, had] = [next, w, values];
        if (next.length === metrics.length && values > 0.8 * steps) break;
      }
      if (had) windows.set(key, window);
      const found = new Map(result.map(({ metric, values }) => [placeOf(metric), values]));
      return metrics.map((metric) => {
        const values = found.get(metric.resource ?? placeOf(metric.place)) ?? [];
        return {
          metric,
          item,
          window,
          infinite: infinities(values),
          times: values.map(([time]) => time),
          values: { rate: values.map(([, v]) => (Number.isFinite(+v) ? +v : null)) },
        };
      });
    }),
  );
  const found = new Map(all.flat().map((c) => [c.metric.id, c]));
  return metrics.map((m) => found.get(m.id)!);
}

// readShown reads rates of counters, and aggregates of other metrics. What is called _count may be a number of things,
// such as of processors: if nobody said that it is a counter, and it does not grow, it is none.
export async function readShown(
  metrics: Metric[],
  from: number,
  to: number,
  choose: (p: Policy) => Item,
  signal?: AbortSignal,
): Promise<Columns[]> {
  const others = metrics.filter((m) => !isCounter(m));
  const all = await Promise.all([
    readRates(metrics.filter(isCounter), from, to, choose, signal).then(async (rates) => {
      const still = rates.filter(
        ({ metric: { guessed, name }, values }) => guessed && name?.endsWith("_count") && !values.rate.some(Boolean),
      );
      return rates.concat(
        await readColumns(
          still.map(({ metric }) => ({ ...metric, type: "gauge" })),
          ["mean"],
          from,
          to,
          choose,
          signal,
        ),
      );
    }),
    ...["mean", "rate:mean"].map((method) =>
      readColumns(
        others.filter((m) => usualMethod(m) === method),
        [method],
        from,
        to,
        choose,
        signal,
      ),
    ),
  ]);
  const found = new Map(all.flat().map((c) => [c.metric.id, c]));
  return metrics.map((m) => found.get(m.id)!).filter(Boolean);
}

// Archive is what is kept of a metric, in bytes; times in seconds since 1970.
export interface Archive {
  bytes: number;
  raw: { bytes: number; kept_from: string | null; newest: string | null };
  archives: { granularity: number; bytes: number }[];
  dropped_measures: number;
  late_measures: number;
}

export const readArchive = (id: string, signal?: AbortSignal) =>
  read<Archive>(metricPath(id) + "/archive", undefined, signal);

// standardSpan is how long a chart is that is asked for without a time, in seconds: 60 groups of each metric at least.
export const standardSpan = (metrics: { policy: Policy }[]) =>
  Math.max(300, ...metrics.map((m) => 60 * m.policy.items[0].granularity));

// beginOf is where a chart begins: at the first group, if the address names no time and all metrics were made within
// the range, with a tenth of the range at least. The ID of a metric (UUIDv7) says when it was made.
export function beginOf(columns: Columns[], { from, to }: Range, params: URLSearchParams): number {
  const made = ({ id }: Metric) => (id[14] === "7" ? parseInt(id.slice(0, 8) + id.slice(9, 13), 16) / 1000 : 0);
  const first = Math.min(...columns.flatMap(({ times }) => times.slice(0, 1)));
  const young = columns.every(({ metric }) => made(metric) >= from && made(metric) <= to);
  if (first === Infinity || params.has("from") || !young) return from;
  return Math.max(from, Math.min(first, to - (to - from) / 10));
}

const newest = new Map<string, { read: number; time: number | null }>();

// newestBefore returns the time of the newest measure of some metrics if it is before a time, else null. It asks about
// the first few, and not again for some seconds.
export async function newestBefore(
  metrics: { id: string }[],
  before: number,
  signal?: AbortSignal,
): Promise<number | null> {
  const times = await Promise.all(
    metrics.slice(0, 8).map(async ({ id }) => {
      const had = newest.get(id);
      if (had && (Date.now() - had.read < 10e3 || (had.time ?? 0) > before)) return had.time;
      const { raw } = await readArchive(id, signal);
      const time = raw.newest ? Date.parse(raw.newest) / 1000 : null;
      newest.set(id, { read: Date.now(), time });
      return time;
    }),
  );
  const last = Math.max(...times.map((t) => t ?? 0));
  return last > 0 && last < before ? last : null;
}

// newestKnown is the newest measure of some metrics as far as newestBefore has asked: archives reach back from there.
export const newestKnown = (metrics: Metric[]) =>
  Math.max(...metrics.map(({ id }) => newest.get(id)?.time ?? 0)) || undefined;
