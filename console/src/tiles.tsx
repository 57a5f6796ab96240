import { parts } from "./lazy";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Chart, type Line } from "./chart";
import type { FinderState } from "./finder";
import { count, show, whole } from "./format";
import {
  archiveFor,
  beginOf,
  isNative,
  metricsOf,
  newestBefore,
  infiniteOf,
  readShown,
  shownUnit,
  standardSpan,
  titles,
  type Columns,
  type Facet,
  type Metric,
  type Series,
} from "./metrics";
import { Notice, useLoad } from "./widgets";
import { endsFreely, readRange, refreshEvery, zoneOf, type Range } from "./range";
import { RangeBar } from "./range_bar";
import { link, route } from "./router";

const mostTiles = 12,
  firstTiles = 3,
  mostLines = 8, // the highest of those read
  mostRead = 40,
  pixels = 340;

// Drawn is a tile's content.
interface Drawn {
  range: Range;
  columns: Columns[];
  query?: string; // of quantiles
}

// Tiles draw what was found in small: one chart for the metrics of a resource whose names differ by numbers only, such
// as cores.
export function Tiles({ finder }: { finder: FinderState }) {
  const { params } = route.use();
  const found = useMemo(() => group(finder.series ?? []), [finder.series]);
  const names = finder.current ? finder.names : undefined,
    all = ({ series, count }: Group) => Math.max(count, series[0].resource ? 0 : counted(names, series[0].name));
  const [rest, drawRest] = useState(false); // behind the first row, which is seen at once
  const groups = rest ? found : found.slice(0, firstTiles);
  const wanted = groups.flatMap(({ series }) => series);
  const shown = found.reduce((sum, g) => sum + all(g), 0),
    total = finder.counts?.total ?? 0;
  const finest = useRef(1); // rarer measures are asked for less often
  const { value, error } = useLoad(
    async (signal) => {
      const metrics = new Map((await metricsOf(wanted)).map((m) => [m.id, m]));
      // Tiles that show the same time are read together. One without measures in its time ends soon after its newest.
      const draw = async (tiles: Metric[][], range: Range, now?: number): Promise<Drawn[]> => {
        const columns = await readShown(
          tiles.flat(),
          range.from,
          range.to,
          (p) => archiveFor(p, range.from, range.to, pixels, now),
          signal,
        );
        const found = new Map(columns.map((c) => [c.metric.id, c]));
        const drawn = tiles.map((tile): Drawn => ({ range, columns: tile.flatMap((m) => found.get(m.id) ?? []) }));
        if (now || !endsFreely(params)) return drawn;
        const air = range.span / 60,
          ends = new Map<number, number[]>();
        await Promise.all(
          drawn.map(async ({ columns }, i) => {
            if (columns.some((c) => c.times.length)) return;
            const newest = await newestBefore(tiles[i], range.from, signal);
            if (!newest) return;
            const end = air * Math.ceil(newest / air + 1);
            ends.set(end, [...(ends.get(end) ?? []), i]);
          }),
        );
        await Promise.all(
          [...ends].map(async ([to, which]) => {
            const old = which.map((i) => tiles[i]);
            (await draw(old, { from: to - range.span, to, live: false, span: range.span }, to - air)).forEach(
              (d, k) => (drawn[which[k]] = d),
            );
          }),
        );
        return drawn;
      };
      finest.current = Math.min(10, ...[...metrics.values()].map((m) => m.policy.items[0].granularity));
      const together = new Map<number, Metric[][]>();
      const histograms: Promise<Drawn>[] = [];
      for (const { series } of groups) {
        const tile = series.flatMap((s) => metrics.get(s.id) ?? []);
        if (tile.length && (isNative(series[0]) || (series[0].labels.le && /_bucket$/.test(series[0].name)))) {
          const range = readRange(params, standardSpan(tile));
          histograms.push(
            parts()
              .then((m) => m.readQuantiles(tile[0], series[0], finder.labels, range.from, range.to, signal))
              .then((drawn) => ({ range, ...drawn })),
          );
        } else if (tile.length) together.set(standardSpan(tile), [...(together.get(standardSpan(tile)) ?? []), tile]);
      }
      const drawn = await Promise.all([
        ...[...together].flatMap(([span, tiles]) =>
          params.get("from") === "all"
            ? tiles.map(async (t) => draw([t], (await (await parts()).wholeSpan(t, signal)) ?? readRange(params, span)))
            : [draw(tiles, readRange(params, span))],
        ),
        ...histograms,
      ]);
      return new Map(drawn.flat().map((d) => [d.columns[0]?.metric.id ?? "", d]));
    },
    [found, rest, params.get("from"), params.get("to")],
    refreshEvery(params, Math.max(1, finest.current)),
  );
  useEffect(() => {
    if (!value?.size || rest) return;
    let timer = 0;
    const frame = requestAnimationFrame(() => (timer = window.setTimeout(() => drawRest(true), 50)));
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [value, rest]);
  if (!finder.series) return finder.error ? null : <Notice>Looking for metrics …</Notice>;
  if (!groups.length)
    return (
      <Notice>
        No metric is called like that.{finder.text.includes("{") && " Enter draws it as an expression in PromQL."}
      </Notice>
    );
  return (
    <>
      {error && <Notice bad>{error}</Notice>}
      {(finder.text || finder.labels.length > 0 || params.has("from")) && (
        <RangeBar
          all
          range={[...(value?.values() ?? [])].map((d) => d.range).sort((a, b) => b.to - a.to)[0] ?? readRange(params)}
        />
      )}
      <div class="tiles">
        {groups.map(
          (g) =>
            value && (
              <Tile
                key={g.series[0].id}
                name={g.name}
                drawn={g.series.map((s) => value.get(s.id)).find(Boolean)}
                all={all(g)}
              />
            ),
        )}
      </div>
      {rest && found.length === mostTiles && total > shown && (
        <p class="hint" id="undrawn">
          Charts of {whole(shown)} of {count(total, "metric")}: type, or choose on the left, to see others.
        </p>
      )}
    </>
  );
}

// Group is what a tile draws: the first of so many series.
interface Group {
  name: string;
  series: Series[];
  count: number;
}

const kindOf = (name: string) => name.replace(/\d+/g, "#");

function group(series: Series[]): Group[] {
  const groups = new Map<string, { series: Series[]; count: number }>();
  for (const s of series) {
    const key = s.resource + "/" + kindOf(s.name),
      group = groups.get(key) ?? { series: [], count: 0 };
    if (!group.count && groups.size === mostTiles) continue;
    group.count++;
    if (group.series.length < mostRead) group.series.push(s);
    groups.set(key, group);
  }
  const all = [...groups.values()];
  const names = titles(
    all.map(({ series: members }) => ({
      ...members[0],
      name: members.some((m) => m.name !== members[0].name) ? members[0].name.replace(/\d+/g, "*") : members[0].name,
    })),
  );
  return all.map((members, i) => ({ name: names[i], ...members }));
}

// counted is how many series the server has of a kind of name, those that were not found among the first as well.
const counted = (names: Facet | undefined, name: string) =>
  (names?.counts ?? []).reduce((sum, c) => (kindOf(c.name) === kindOf(name) ? sum + c.value : sum), 0);

// highest returns the columns with the highest means, in their order.
function highest(all: Columns[]): Columns[] {
  if (all.length <= mostLines) return all;
  const mean = ({ values }: Columns) => {
    const known = (Object.values(values)[0] ?? []).filter((v): v is number => v !== null);
    return known.length ? known.reduce((sum, v) => sum + v, 0) / known.length : -Infinity;
  };
  const means = new Map(all.map((c) => [c, mean(c)]));
  const first = new Set([...all].sort((a, b) => means.get(b)! - means.get(a)!).slice(0, mostLines));
  return all.filter((c) => first.has(c));
}

function Tile({ name, drawn, all: total }: { name: string; drawn?: Drawn; all: number }) {
  if (!drawn?.columns.length) return null;
  const { columns: all, range, query } = drawn;
  const columns = query ? all : highest(all);
  const unit = shownUnit(columns[0].metric);
  const names = titles(columns.map((c) => c.metric));
  const lines: Line[] = columns.map((c, i) => ({
    label: names[i],
    color: i,
    times: c.times,
    values: Object.values(c.values)[0] ?? [],
    step: c.item.granularity,
  }));
  const last = lines.map((l) => l.values.at(-1)).filter((v) => v !== undefined && v !== null);
  return (
    <a
      class="panel tile"
      href={link("explore", query ? { q: query } : { m: all.map((c) => c.metric.id) })}
      data-name={name}
    >
      <header>
        <h2 title={name}>{name}</h2>
        {!query && columns.length < Math.max(all.length, total) && (
          <small class="of">
            the {columns.length} highest of {total > all.length && `the first ${all.length} of `}
            {whole(Math.max(all.length, total))}
          </small>
        )}
        <small class="of">{infiniteOf(columns)}</small>
        <span class="now">
          {last
            .slice(0, 3)
            .map((v) => show(v, unit, 3))
            .join(" · ") || "no values"}
          {last.length > 3 && " …"}
        </span>
      </header>
      <Chart
        lines={lines}
        from={beginOf(columns, range, route.get().params)}
        to={range.to}
        height={130}
        unit={unit}
        zone={zoneOf()}
        title={name}
        small
      />
    </a>
  );
}
