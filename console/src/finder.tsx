import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { promqlOf } from "./combined_chart";
import { count, short, whole } from "./format";
import { lazy, parts } from "./lazy";
import { read } from "./api";
import { bounds, countFound, countNames, findSeries, findValues, isNative } from "./metrics";
import type { Counts, Facet, Metric, Series, Value } from "./metrics";
import { Notice, useLoad } from "./widgets";
import { find, nowhere, rankOf, selector, valuesPath } from "./paths";
import { change, link } from "./router";

const Members = lazy<NameProps>(() => parts().then((m) => m.Members));

const firstFacets = 4; // the others are in a box

export interface FinderState {
  text: string;
  labels: [string, string][];
  series?: Series[];
  counts?: Counts;
  names?: Facet;
  values?: Value[];
  current: boolean; // names and values are those of the text and the labels, and not of earlier ones
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
  const found = useRef<Promise<unknown> | null>(null);
  const { value: series, error } = useLoad(
    (signal) => {
      const all = findSeries(text, labels, signal);
      found.current = all.catch(() => []);
      return all;
    },
    on,
    every,
  );
  // Counting many series takes longer than finding the first of them, so it is a load of its own; but charts are asked
  // for before counts are drawn.
  const behind = async <T,>(counting: Promise<T>) => (await Promise.all([counting, found.current]))[0];
  const { value: counts, error: uncounted } = useLoad((signal) => behind(countFound(text, labels, signal)), on, every);
  const of = on.join("\n");
  const { value: known } = useLoad(
    async (signal) => {
      const [names, values] = await behind(
        Promise.all([countNames(text, labels, signal), findValues(text, labels, signal)]),
      );
      return { names, values, of };
    },
    on,
    every,
  );
  const empty = all && series?.length === 0;
  useEffect(() => setWaits(empty), [empty]);
  return { text, labels, series, counts, ...known, current: known?.of === of, error: error ?? uncounted, empty };
}

// Finder finds by names, IDs and values of labels, and filters by labels, each with the number of series that have it.
export function Finder({ finder, chosen }: { finder: FinderState; chosen: Metric[] }) {
  const { text, labels, series, counts, names, values, current, error } = finder;
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
  // What is found, the best first: names before values of the same rank.
  const first = names?.counts[0];
  const opens = (): (() => void) | undefined => {
    const nameRank = first ? rankOf(first.name, text) : nowhere,
      value = values?.[0];
    if (value && value.rank < nameRank) return () => choose(value, labels);
    if (first) return () => void openName(first.name, labels, text);
    return text.includes("{") ? () => change({ find: null, m: null, lang: null, q: text }) : undefined;
  };
  const [enters, setEnters] = useState<string | null>(null); // a text, until what it finds is here
  useEffect(() => {
    if (enters === null || enters !== text || !current) return;
    setEnters(null);
    opens()?.();
  }, [enters, text, current]);
  const enter = () => {
    if (typed !== shown.current) {
      shown.current = typed;
      change({ find: typed || null }, true);
    }
    setEnters(typed);
  };
  const known = (values ?? []).map((v) => (
    <li key={v.label + "=" + v.value}>
      <button type="button" class="value" title={`${v.label}=${v.value}`} onClick={() => choose(v, labels)}>
        <span>
          <i>{label(v.label)}</i> {breakable(v.value)}
        </span>
        <small>{whole(v.series)}</small>
      </button>
    </li>
  ));
  const valuesFirst = Boolean(values?.length && values[0].rank < (first ? rankOf(first.name, text) : nowhere));
  const shownOfList = useGrowing(text + "\n" + labels.join("\n"), names?.counts.length ?? 0);
  const list = useMemo(
    () =>
      names?.counts
        .slice(0, shownOfList)
        .map(({ name, value }) => (
          <Name key={name} {...{ name, value, text, labels, chosen }} first={series?.find((s) => s.name === name)} />
        )),
    [names, series, chosen, shownOfList, text, labels.join("\n")],
  );
  const found = useRef<HTMLUListElement>(null);
  useEffect(() => {
    let stop: (() => void) | undefined;
    const load = () =>
      void import("./arrows").then(
        ({ walk }) => (stop = found.current ? walk(found.current) : undefined),
        () => (stop = whenIdle(load, 1000)), // the server restarts
      );
    stop = whenIdle(load, 250);
    return () => stop?.();
  }, []);
  const [open, setOpen] = useState(false); // hundreds of options, which no chart waits for
  useEffect(() => whenIdle(() => setOpen(true), 500), []);
  const facets = useMemo(
    () =>
      (counts ? facetsOf(counts, labels) : []).map((f) => (
        <Filter key={f.name} facet={f} {...{ text, labels, open }} />
      )),
    [counts, text, labels.join("\n"), open],
  );
  return (
    <aside class="panel finder" aria-label="Find metrics">
      <div class="search">
        <input
          type="search"
          placeholder="Name, ID or label"
          aria-label="Find metrics by name, ID or label"
          title="Enter opens the first"
          value={typed}
          onInput={(e) => {
            setTyped(e.currentTarget.value);
            setEnters(null);
          }}
          onKeyDown={(e) => e.key === "Enter" && enter()}
        />
        <button
          type="button"
          title="Draw PromQL or dynamic aggregates"
          onClick={() => change({ q: chosen.map(promqlOf).join(" or "), m: null, agg: null, g: null })}
        >
          ƒ(x)
        </button>
      </div>
      <div class="facets" onFocusIn={() => setOpen(true)}>
        {facets.slice(0, firstFacets)}
      </div>
      {facets.length > firstFacets && (
        <details class="more">
          <summary>{count(facets.length - firstFacets, "more label")}</summary>
          <div class="facets">{facets.slice(firstFacets)}</div>
        </details>
      )}
      {error && <Notice bad>{error}</Notice>}
      {counts && (
        <p class="hint" id="found">
          {count(counts.total, "metric")}
        </p>
      )}
      <ul class="found" ref={found}>
        {valuesFirst && known}
        {list}
        {!valuesFirst && known}
        {names && shownOfList >= names.counts.length && names.values > names.counts.length && (
          <li class="hint">
            and {count(names.values - names.counts.length, "more name")}: type, or choose above, to narrow
          </li>
        )}
      </ul>
      <a class="hint" href={link("import")}>
        Bring a file
      </a>
    </aside>
  );
}

interface FilterProps {
  facet: Facet;
  text: string;
  labels: [string, string][];
  open: boolean;
}

const withLabel = (labels: [string, string][], name: string, value: string) => ({
  l: [...labels.filter(([n]) => n !== name), ...(value ? [[name, value]] : [])].map((l) => l.join("=")),
});

// choose filters by a value instead of words.
const choose = ({ label, value }: Value, labels: [string, string][]) =>
  change({ find: null, m: null, q: null, ...withLabel(labels, label, value) });

const mostOnChart = 40;

// openName draws the series of a name that were found, also by words that are not in it.
async function openName(name: string, labels: [string, string][], text: string) {
  const its: [string, string][] = [...labels.filter(([n]) => n !== "__name__"), ["__name__", name]];
  const others = text.split(/\s+/).filter((w) => !name.toLowerCase().includes(w.toLowerCase()));
  const words = others.join(" ");
  const found = await findSeries(words, its, undefined, mostOnChart + 1);
  if (found.length === 1) toggle([], found[0]);
  else if (found.length > mostOnChart || found.some(isNative)) change({ q: selector(words, its), m: null, lang: null });
  else change({ m: found.map((s) => s.id), q: null, lang: null });
}

// Filter is a field for the value of a label, which completes what is typed from all values of what is found.
function Filter({ facet: { name, values, counts }, text, labels, open }: FilterProps) {
  const chosen = labels.find(([n]) => n === name)?.[1] ?? "",
    shown = (value: string) => (name === "project_id" ? short(value) : value);
  const [typed, setTyped] = useState(chosen);
  useEffect(() => setTyped(chosen), [chosen]);
  const { value: completed } = useLoad(
    async (signal) => {
      if (!typed.trim() || typed === chosen || values <= counts.length) return null;
      const path = valuesPath(name, typed, text, labels);
      return (await read<{ data: { labels: Facet[] } }>(path, undefined, signal)).data.labels[0] ?? null;
    },
    [typed, text, labels.join("\n")],
  );
  const apply = (value: string) => value !== chosen && change(withLabel(labels, name, value.trim()));
  const offered = completed?.counts ?? counts.filter((c) => open || c.name === chosen);
  return (
    <span class="filter" data-label={name} style={{ minWidth: `min(100%, ${label(name).length + 3}ch)` }}>
      <input
        type="search"
        list={"values-" + name}
        aria-label={label(name)}
        placeholder={label(name)}
        title={open && values > counts.length ? `${count(values, "value")}: type a part of one` : undefined}
        value={typed}
        onInput={(e) => {
          const value = e.currentTarget.value;
          setTyped(value);
          const typing = (e as InputEvent).inputType?.match(/^(insertText|delete|insertComposition)/);
          if (!value || !typing) apply(value);
        }}
        onChange={(e) => apply(e.currentTarget.value)}
      />
      <datalist id={"values-" + name}>
        {offered.map((c) => (
          <option key={c.name} value={c.name} title={c.name}>
            {shown(c.name)} ({whole(c.value)})
          </option>
        ))}
      </datalist>
    </span>
  );
}

export interface NameProps {
  name: string;
  value: number;
  text: string;
  labels: [string, string][];
  chosen: Metric[];
  first?: Series;
}

export const toggle = (chosen: Metric[], series: Series) => {
  const id = series.id,
    ids = chosen.map((m) => m.id);
  if (isNative(series)) void parts().then((m) => m.drawNative(series));
  else change({ q: null, lang: null, m: ids.includes(id) ? ids.filter((i) => i !== id) : [...ids, id] });
};

// Name is a line of the list: a metric, or the name of several, which opens to what tells them apart.
function Name({ name, value, text, labels, chosen, first }: NameProps) {
  const [open, setOpen] = useState(false);
  const some = chosen.some((m) => m.id === first?.id || m.name === name);
  const only = async () => {
    const its = first ?? (await findSeries(text, [...labels, ["__name__", name]]))[0];
    if (its) toggle(chosen, its);
  };
  return (
    <li>
      <button
        type="button"
        aria-pressed={value === 1 || some ? some : undefined}
        aria-expanded={value > 1 ? open : undefined}
        title={first && value === 1 ? about(first) : name}
        onClick={() => (value > 1 ? setOpen(!open) : void only())}
      >
        <span>
          {value > 1 && <i class="turn">{open ? "▾" : "▸"}</i>}
          {breakable(name)}
        </span>
        <small>{value > 1 ? whole(value) : first && place(first)}</small>
      </button>
      {open && value > 1 && <Members {...{ name, value, text, labels, chosen }} />}
    </li>
  );
}

// whenIdle calls when the browser has nothing else to do, after some ms. The function that it returns stops it.
function whenIdle(then: () => void, ms: number) {
  let idle = 0;
  const timer = setTimeout(() => {
    idle = requestIdleCallback(then, { timeout: 1000 });
  }, ms);
  return () => {
    clearTimeout(timer);
    cancelIdleCallback(idle);
  };
}

// breakable lets a line break behind the separators of a name, and nowhere else while it fits.
export const breakable = (name: string) =>
  name.split(/(?<=[_./,:=])/).flatMap((part, i) => (i ? [<wbr key={i} />, part] : [part]));

// useGrowing is how many lines of a list to draw: those that are seen at once; the others follow while the browser has
// nothing else to do, so that charts do not wait for them. Another search begins anew.
function useGrowing(of: string, most: number): number {
  const [grown, grow] = useState({ of, lines: firstLines });
  const lines = grown.of === of ? grown.lines : firstLines;
  useEffect(() => {
    if (lines >= most) return;
    return whenIdle(() => grow({ of, lines: lines + moreLines }), lines === firstLines ? 250 : 0);
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
export const about = (s: Series) =>
  [s.name, s.resource, s.place[""], ...Object.entries(s.labels).map(([n, v]) => `${n}=${v}`)]
    .filter(Boolean)
    .join("\n");
export const place = (s: Series) => s.place[""] ?? s.labels.instance ?? s.labels.job ?? "";

export const order = ["job", "instance", "resource_type", "project_id", "original_resource_id"];

// facetsOf leaves out the facets that tell nothing apart, and ranks the others by the number of series that have them.
function facetsOf(found: Counts, labels: [string, string][]): Facet[] {
  const chosen = new Set(labels.map(([name]) => name));
  const rank = (f: Facet) =>
    chosen.has(f.name)
      ? 0
      : order.includes(f.name)
        ? 1 + order.indexOf(f.name)
        : f.name in titles
          ? 99
          : bounds.has(f.name)
            ? 98
            : 9;
  const having = (f: Facet) => f.counts.reduce((sum, c) => sum + c.value, 0);
  return found.facets
    .filter((f) => chosen.has(f.name) || f.values > 1 || f.counts[0].value < found.total)
    .sort((a, b) => rank(a) - rank(b) || having(b) - having(a));
}
