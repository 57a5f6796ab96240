import { useMemo, useState } from "preact/hooks";
import { lazy, parts } from "./lazy";
import { axisOf } from "./axis";
import { Chart, type Line } from "./chart";
import { count, duration, moment } from "./format";
import {
  byName,
  archiveFor,
  beginOf,
  isCounter,
  newestBefore,
  newestKnown,
  readColumns,
  infiniteOf,
  readShown,
  shownUnit,
  standardSpan,
  titles,
  usualMethod,
  type Columns,
  type Metric,
  type Policy,
} from "./metrics";
import { quote } from "./paths";
import { Menu, Notice, Panel, save, useLoad } from "./widgets";
import { RangeBar } from "./range_bar";
import { endsFreely, localZone, readRange, readWindow, refreshEvery, zoneOf, type Range, type Window } from "./range";
import { change, link, route } from "./router";
import { useHidden, type Row } from "./legend";

const AxisMenu = lazy(() => parts().then((m) => m.AxisMenu));
const DataTable = lazy(() => parts().then((m) => m.DataTable));
const Summary = lazy(() => parts().then((m) => m.Summary));
const Explain = lazy(() => parts().then((m) => m.Explain));
const Changed = lazy(() => parts().then((m) => m.Changed));
const CopyButtons = lazy(() => parts().then((m) => m.CopyButtons));

const mostBands = 4,
  mostRaw = 5000;

// Shown is what a chart was asked for: the metrics' aggregates, those of the time before, and raw measures.
interface Shown {
  range: Range;
  columns: Columns[];
  before: Columns[];
  raw: { times: number[]; values: number[] }[];
  method: string;
  tooMany: boolean;
  newest: number | null; // time of the newest measure, if that is before what the address shows
}

// Overlay draws chosen metrics on one chart, and says from which archive.
export function Overlay({ metrics }: { metrics: Metric[] }) {
  const { params } = route.use();
  const [width] = useState(() => Math.min(1400, Math.max(300, document.documentElement.clientWidth - 420)));
  const counters = metrics.some(isCounter),
    rated = counters && (params.get("agg") ?? "rate") === "rate";
  const usual = metrics.every((m) => usualMethod(m) === "rate:mean") ? "rate:mean" : "mean",
    method = (!rated && params.get("agg")) || usual,
    wanted = params.get("g");
  const few = metrics.length <= mostBands,
    banded = few && method === "mean" && !rated;
  const percentiles = [...new Set(metrics.flatMap((m) => m.policy.methods.filter((n) => /^[\d.]+pct$/.test(n))))].sort(
    (a, b) => parseFloat(a) - parseFloat(b),
  );
  const can = { cmp: true, pct: few && percentiles.length > 0 && !rated, raw: few && !rated },
    on = (name: keyof typeof can) => can[name] && params.get(name) === "1";
  const standard = standardSpan(metrics),
    range = readRange(params, standard);
  const finest = Math.min(...metrics.map((m) => m.policy.items[0].granularity));
  const { value, error, loading } = useLoad<Shown>(
    async (signal) => {
      const draw = async (range: Range, newest: number | null): Promise<Shown> => {
        const { from, to, span } = range;
        const choose = (p: Policy) =>
          (wanted && p.items.find((i) => i.granularity === +wanted)) ||
          archiveFor(p, from, to, width, newestKnown(metrics));
        const methods = [method, ...(banded ? ["min", "max"] : []), ...(on("pct") ? percentiles : [])];
        const tooMany = on("raw") && metrics.some((m) => span / m.policy.items[0].granularity > mostRaw);
        const read = (methods: string[], from: number, to: number) =>
          rated
            ? readShown(metrics, from, to, choose, signal)
            : readColumns(metrics, methods, from, to, choose, signal);
        const [columns, before, raw] = await Promise.all([
          read(methods, from, to),
          on("cmp") ? read([method], from - span, from) : [],
          on("raw") && !tooMany
            ? Promise.all(metrics.map(async (m) => (await parts()).readRaw(m.id, from, to, signal)))
            : [],
        ]);
        return { range, columns, before, raw, method, tooMany, newest };
      };
      const range =
          (params.get("from") === "all" && (await (await parts()).wholeSpan(metrics, signal))) ||
          readRange(params, standard),
        shown = await draw(range, null);
      if (shown.columns.some((c) => c.times.length)) return shown;
      // An address that leaves the end open shows the newest measures; another one says when they were.
      const newest = await newestBefore(metrics, range.from, signal);
      if (!newest || !endsFreely(params)) return { ...shown, newest };
      const end = newest + finest; // the newest group with its width
      return draw({ ...range, from: end - range.span, to: end, live: false }, newest);
    },
    [metrics, method, rated, wanted, ...["from", "to", "live", "cmp", "pct", "raw"].map((n) => params.get(n))],
    range.live ? refreshEvery(params, Math.min(30, Math.max(1, finest))) : 0,
  );
  const rows = useMemo(() => (value ? rowsOf(value) : []), [value]);
  const legend = useHidden(rows);
  // The chart draws again when it is given other lines, so they stay while the next ones are waited for.
  const lines = useMemo<Line[]>(
    () =>
      legend.shown.map((r) =>
        banded && !r.derived
          ? { ...r, low: value!.columns[r.color].values.min, high: value!.columns[r.color].values.max }
          : r,
      ),
    [legend.shown, banded],
  );
  const methods = byName([...new Set(metrics.flatMap((m) => m.policy.methods))], String).sort(
    (a, b) => rank(a) - rank(b),
  );
  const granularities = [...new Set(metrics.flatMap((m) => m.policy.items.map((i) => i.granularity)))].sort(
    (a, b) => a - b,
  );
  const units = new Set((value?.columns.map((c) => c.metric) ?? metrics).map((m) => shownUnit(m, rated)));
  const unit = units.size === 1 ? [...units][0] : "",
    zone = zoneOf();
  const axis = axisOf(params, unit),
    table = params.get("view") === "table",
    window = readWindow(params);
  const title = metrics.length === 1 ? (metrics[0].name ?? metrics[0].id) : count(metrics.length, "metric");
  const host = metrics.length === 1 && metrics[0].place[""];
  const shown = value?.range ?? range,
    begin = value ? beginOf([...value.columns, ...value.before], shown, params) : shown.from;
  const look = (from: number, to: number) => change({ from: String(Math.floor(from)), to: String(Math.ceil(to)) });
  const toggle = (name: keyof typeof can, text: string, about: string) =>
    can[name] && (
      <button
        type="button"
        aria-pressed={on(name)}
        title={about}
        onClick={() => change({ [name]: on(name) ? null : "1" })}
      >
        {text}
      </button>
    );
  return (
    <>
      <RangeBar range={shown} all>
        <span class="aside">
          <label>
            Show{" "}
            <select
              aria-label="Aggregation method"
              value={rated ? "rate" : method}
              onChange={(e) =>
                change({ agg: e.currentTarget.value === (counters ? "rate" : usual) ? null : e.currentTarget.value })
              }
            >
              {counters && <option>rate</option>}
              {(methods.includes(method) ? methods : [method, ...methods]).map((m) => (
                <option key={m}>{m}</option>
              ))}
            </select>
          </label>
          <label>
            of{" "}
            <select
              aria-label="Granularity"
              value={wanted ?? ""}
              onChange={(e) => change({ g: e.currentTarget.value || null })}
            >
              <option value="">what fits</option>
              {granularities.map((g) => (
                <option key={g} value={String(g)}>
                  {duration(g)}
                </option>
              ))}
            </select>
          </label>
        </span>
      </RangeBar>
      {error && <Notice bad>{error}</Notice>}
      <Panel
        title={host ? `${title} · ${host}` : title}
        id="drawn"
        aside={
          <>
            {counters && (
              <button
                type="button"
                aria-pressed={rated}
                title="What counters grow by in a second"
                onClick={() => change({ agg: rated ? usual : null })}
              >
                Rate
              </button>
            )}
            {toggle("cmp", "Before", `Compare with the ${duration(Math.round(shown.span))} before`)}
            {toggle("pct", "Percentiles", percentiles.join(", "))}
            {toggle("raw", "Raw", "Single measures, as far as they are kept")}
            <Explain window={window} range={shown} />
            <button type="button" aria-pressed={table} onClick={() => change({ view: table ? null : "table" })}>
              Table
            </button>
            <AxisMenu axis={axis} />
            <Menu title="Copy">
              <CopyButtons metrics={metrics} columns={value?.columns} method={method} range={shown} />
              {!table && (
                <button
                  type="button"
                  onClick={() =>
                    void parts()
                      .then(({ picture }) =>
                        picture(
                          "drawn",
                          title,
                          lines,
                          `${moment(begin, zone)} – ${moment(shown.to, zone)} ${zone || localZone()}`,
                        ),
                      )
                      .then((png) => save(png, title + ".png"))
                  }
                >
                  PNG
                </button>
              )}
            </Menu>
          </>
        }
      >
        {value && (
          <p class="hint" id="archive" data-from={value.range.from}>
            {archives(value)}
          </p>
        )}
        {value?.newest && (
          <Notice>
            Newest measure {moment(value.newest, zone)}
            {value.newest < value.range.from ? ": " : ", and none since"}
            {value.newest < value.range.from && (
              <button type="button" onClick={() => look(value.newest! + finest - standard, value.newest! + finest)}>
                Show it
              </button>
            )}
          </Notice>
        )}
        {value && !value.newest && rows.length > 0 && rows.every((r) => r.values.every((v) => v === null)) && (
          <p class="hint">No measures in this time.</p>
        )}
        {value &&
          (table ? (
            <DataTable rows={rows} unit={axis.unit} zone={zone} name={title} />
          ) : (
            <Chart
              lines={lines}
              from={begin}
              to={shown.to}
              height={340}
              {...axis}
              zone={zone}
              title={title}
              shades={shades(window)}
              onZoom={window ? mark : look}
              onPan={look}
            />
          ))}
        {!value && loading && <p class="hint">Reading …</p>}
      </Panel>
      {window && <Changed of={metrics} />}
      {value && (
        <Summary
          rows={rows}
          unit={axis.unit}
          legend={legend}
          onRemove={(id) => change({ m: metrics.map((m) => m.id).filter((m) => m !== id) })}
          href={(id) => link("metric", { id })}
        />
      )}
    </>
  );
}

const order = ["mean", "max", "min", "sum", "count", "last", "first", "median", "std"];
const rank = (method: string) => order.indexOf(method) + 1 || 99;

// mark says which time is to be explained.
export const mark = (from: number, to: number, replace = false) =>
  change({ w: `${Math.floor(from)}-${Math.ceil(to)}` }, replace);

export const shades = (w: Window | null) => (w ? [{ from: 2 * w.from - w.to, to: w.from, faint: true }, w] : []);

// rowsOf makes a row of each series: of a metric, of its percentiles, of the time before, and of its raw measures.
function rowsOf({ range, columns, before, raw, method }: Shown): Row[] {
  const names = titles(columns.map((c) => c.metric));
  const rows = columns.map((c, i) => row(c, i, method, names[i]));
  columns.forEach((c, i) => {
    const { id, label } = rows[i];
    for (const [name, values] of Object.entries(c.values))
      if (name !== method && /pct$/.test(name))
        rows.push({ ...rows[i], id: id + name, label: `${label} ${name}`, values, look: "dotted", derived: true });
    if (before[i])
      rows.push({
        ...row(before[i], i, method, names[i]),
        id: id + "before",
        label: `${label}, ${duration(Math.round(range.span))} before`,
        times: before[i].times.map((t) => t + range.span),
        look: "dashed",
        derived: true,
      });
    if (raw[i]?.times.length)
      rows.push({ ...rows[i], id: id + "raw", label: `${label}, measures`, ...raw[i], look: "dots", derived: true });
  });
  return rows;
}

function row(c: Columns, i: number, method: string, name: string): Row {
  const [used, values] =
    method in c.values ? [method, c.values[method]] : (Object.entries(c.values)[0] ?? [method, []]);
  return {
    id: c.metric.id,
    label: name + (used === method || used === "rate" ? "" : ` (${used})`),
    color: i,
    times: c.times,
    values,
    step: c.item.granularity,
  };
}

// archives names what a chart is drawn from.
function archives({ columns, method, raw, tooMany }: Shown): string {
  const all = new Set(
    columns.map((c) => {
      const used = method in c.values ? method : (Object.keys(c.values)[0] ?? method);
      if (used === "rate")
        return `rate a second, by ${duration(c.item.granularity)}${c.window! > c.item.granularity ? `, each over ${duration(c.window!)}` : ""} (archive policy ${c.metric.policy.name})`;
      return `${used} of ${duration(c.item.granularity)}, kept for ${duration(c.item.timespan)} (archive policy ${c.metric.policy.name})`;
    }),
  );
  const dots = raw.length
    ? raw.some((r) => r.times.length)
      ? "; dots are raw measures, as far as kept"
      : "; no raw measures are kept"
    : "";
  const left = infiniteOf(columns);
  return (
    "Drawn from " + [...all].join("; ") + (tooMany ? "; zoom in to see raw measures" : dots) + (left && "; " + left)
  );
}

export const promqlOf = (m: Metric) =>
  `{${[quote(m.name ?? ""), ...(m.resource ? [`resource_id=${quote(m.resource)}`] : [])].join(", ")}}`;
