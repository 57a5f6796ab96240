import { useEffect, useState } from "preact/hooks";
import { read } from "./api";
import { mark } from "./combined_chart";
import { Copy } from "./copy";
import { count, duration, moment, show, unitOf, whole } from "./format";
import { archiveFor, chosenMetrics, readShown, type Columns, type Metric } from "./metrics";
import { find, quote, selector } from "./paths";
import { Scroll } from "./scroll";
import { Notice, Panel, useLoad } from "./widgets";
import { writtenOf } from "./range_bar";
import { readWindow, zoneOf, type Range, type Window } from "./range";
import { change, link, route } from "./router";

interface Change {
  id: string;
  labels: Record<string, string>;
  granularity: number;
  score: number;
  before: number;
  after: number;
  usual: number;
  per_second: boolean;
  quantile: number | null;
  moved_at: string;
  lag: number | null;
  seasons: string[];
  series: number;
  moved: number;
  where: Pair[];
  alike: Change[];
}
interface Pair {
  label: string;
  value: string;
  moved: number;
  of: number;
}
interface Answer {
  metrics: number;
  compared: number;
  moved: number;
  where: Pair[];
  changes: Change[];
}

const mostChanges = 20,
  pixels = 160,
  row = { gridColumn: "1 / -1" }; // of a table that is narrow

// Changed explains a window: which of the metrics that the filters on the left find moved most, before, with and after
// those that are drawn, and in which labels they differ from the others.
export function Changed({ of = [] }: { of?: Metric[] }) {
  const { params } = route.use(),
    zone = zoneOf();
  const w = readWindow(params) ?? { from: 0, to: 1 };
  const { text, labels } = find(params);
  const match = selector(text, labels),
    drawn = of.map((m) => m.id).join("|");
  const { value, error, loading } = useLoad(
    async (signal) => {
      const ask = (match: string, more: object) =>
        read<Answer>("/v1/changes", { match, start: w.from, stop: w.to, limit: mostChanges, ...more }, signal);
      const first = drawn && (await ask(`{metric_id=~${quote(drawn)}}`, { limit: 1 })).changes[0],
        it = first && first.moved ? first : null;
      return { it, answer: await ask(match, { at: it?.moved_at ?? w.from }) };
    },
    [match, drawn, w.from, w.to],
  );
  const span = w.to - w.from,
    ids = params.getAll("m");
  const move = (from: number, to: number) => mark(from, to, true);
  const all = value?.answer.changes ?? [],
    moved = all.filter((c) => c.moved),
    most = Math.max(...all.map((c) => c.score), 1);
  const lines = useLines(all, w.from - span, w.to);
  const progress = useProgress(loading);
  const when = value?.it ? "it" : moment(w.from, zone);
  const parts: [string, Change[]][] = [
    ["Before " + when, moved.filter((c) => c.lag! < 0)],
    ["With " + when, moved.filter((c) => c.lag === 0)],
    ["After " + when, moved.filter((c) => c.lag! > 0)],
    ["Not moved", all.filter((c) => !c.moved)],
  ];
  return (
    <Panel
      title="What changed here?"
      id="changed"
      aside={
        <>
          <span class="mono">{writtenOf(w).replace(/:00(?= |$)/g, "")}</span>
          <span class="group" role="group" aria-label="The marked time">
            <button
              type="button"
              aria-label="Mark earlier"
              title="Earlier"
              onClick={() => move(w.from - span / 2, w.to - span / 2)}
            >
              ‹
            </button>
            <button
              type="button"
              aria-label="Mark later"
              title="Later"
              onClick={() => move(w.from + span / 2, w.to + span / 2)}
            >
              ›
            </button>
            <button
              type="button"
              aria-label="Mark less"
              title="Shorter"
              onClick={() => move(w.from + span / 4, w.to - span / 4)}
            >
              −
            </button>
            <button
              type="button"
              aria-label="Mark more"
              title="Longer"
              onClick={() => move(w.from - span / 2, w.to + span / 2)}
            >
              +
            </button>
          </span>
          <Copy label="Link" title="Copy the address of this, with its times" text={absolute(w)} />
          <button type="button" class="icon" aria-label="Close" title="Close" onClick={() => change({ w: null })}>
            ×
          </button>
        </>
      }
    >
      <p class="hint">
        Drag over the chart to mark another time. It is compared with the {duration(Math.round(span))} before, and what
        moved with the same time of earlier days{text || labels.length ? ", of the metrics found on the left" : ""}.
        {loading && <b> Comparing …{progress > 0 && ` ${count(progress, "window")} read`}</b>}
      </p>
      {error && <Notice bad>{error}</Notice>}
      {value && all.length === 0 && <p class="hint">There is nothing to compare at this time.</p>}
      {value && all.length > 0 && (
        <>
          <p id="explained" style={{ margin: "0.6rem 0" }} data-moved={value.answer.moved}>
            {whole(value.answer.moved)} of {count(value.answer.compared, "compared metric")} moved far
            {value.answer.where.length > 0 && (
              <>
                , {shared(value.answer.where)} with <b>{pairs(value.answer.where)}</b>
              </>
            )}
            .{value.it && ` What is drawn moved at ${moment(Date.parse(value.it.moved_at) / 1000, zone)}.`}
          </p>
          <Scroll>
            <table id="changes" class="stack">
              <thead>
                <tr>
                  <th scope="col">Metric</th>
                  <th scope="col">
                    <span class="hidden">Chart</span>
                  </th>
                  <th scope="col" class="number">
                    Before
                  </th>
                  <th scope="col" class="number">
                    Here
                  </th>
                  <th scope="col" title="The mean distance of deciles, in units of the spread before">
                    Moved by
                  </th>
                  <th scope="col">
                    <span class="hidden">Draw</span>
                  </th>
                </tr>
              </thead>
              {parts.map(
                ([title, changes]) =>
                  changes.length > 0 && (
                    <tbody key={title}>
                      <tr>
                        <th scope="rowgroup" colSpan={6} style={{ ...row, fontWeight: "600", paddingTop: "0.9rem" }}>
                          {title}
                        </th>
                      </tr>
                      {changes.map((c) => (
                        <Moved key={c.id} change={c} window={w} most={most} line={lines.get(c.id)} drawn={ids} />
                      ))}
                    </tbody>
                  ),
              )}
            </table>
          </Scroll>
        </>
      )}
    </Panel>
  );
}

// Explain marks the last third of a chart, to begin with.
export const Explain = ({ window, range: { from, to } }: { window: Window | null; range: Range }) => (
  <button
    type="button"
    aria-pressed={!!window}
    title="Mark a time, and see which metrics moved before, with and after what is drawn"
    onClick={() => (window ? change({ w: null }) : mark(to - (to - from) / 3, to))}
  >
    What changed here?
  </button>
);

// absolute is the address of what is on screen, with the times that it shows now.
function absolute({ from, to }: Window): string {
  const params = new URLSearchParams(route.get().params);
  params.set("from", String(Math.floor(2 * from - to)));
  params.set("to", String(Math.ceil(to)));
  return location.href.split("#")[0] + link("explore", params);
}

// useProgress is how many windows of metrics the server has read so far, of a comparison that takes longer than a
// second.
function useProgress(runs: boolean): number {
  const [count, set] = useState(0);
  useEffect(() => {
    if (!runs) return set(0);
    const timer = setInterval(
      () =>
        void read<{ route: string; metrics_read: number }[]>("/v1/queries").then(
          (all) => set(Math.max(0, ...all.filter((q) => q.route.includes("/v1/changes")).map((q) => q.metrics_read))),
          () => clearInterval(timer),
        ),
      1000,
    );
    return () => clearInterval(timer);
  }, [runs]);
  return count;
}

// useLines reads what rows draw.
function useLines(changes: Change[], from: number, to: number): Map<string, Columns> {
  const ids = changes.filter((c) => !c.quantile).map((c) => c.id);
  const { value } = useLoad(
    async (signal) => {
      const found = (await chosenMetrics(ids)).flatMap((r) => (r.status === "fulfilled" ? [r.value] : []));
      const all = await readShown(found, from, to, (p) => archiveFor(p, from, to, pixels, to), signal);
      return new Map(all.map((c) => [c.metric.id, c]));
    },
    [ids.join(), from, to],
  );
  return value ?? new Map<string, Columns>();
}

// Moved is the row of a metric, with those that moved alike.
function Moved({
  change: c,
  window: w,
  most,
  line,
  drawn,
}: {
  change: Change;
  window: Window;
  most: number;
  line?: Columns;
  drawn: string[];
}) {
  const name = nameOf(c),
    unit = unitOf(name.replace(/_bucket$/, "")),
    per = c.per_second ? "/s" : "";
  return (
    <tr data-id={c.id}>
      <td style={{ minWidth: "13rem" }}>
        <a href={hrefOf(c, w)}>{name}</a>{" "}
        <small>
          {c.quantile && `${c.quantile}-quantile `}
          {place(c.labels)}
        </small>
        <small class="why">{why(c, w.from, show(c.usual, unit) + per)}</small>
        {c.alike.length > 0 && (
          <details>
            <summary class="hint">and {c.alike.length} alike</summary>
            {c.alike.map((other) => (
              <a key={other.id} href={hrefOf(other, w)} style={{ display: "block", paddingLeft: "1rem" }}>
                {nameOf(other)} <small>{place(other.labels)}</small>
              </a>
            ))}
          </details>
        )}
      </td>
      <td style={row}>
        {line && <Spark line={line} window={w} at={c.moved ? Date.parse(c.moved_at) / 1000 : null} title={name} />}
      </td>
      <td class="number" data-label="Before" data-figure="before" data-value={c.before}>
        {show(c.before, unit)}
        {per}
      </td>
      <td class="number" data-label="Here" data-figure="after" data-value={c.after}>
        {show(c.after, unit)}
        {per}
      </td>
      <td class="score" data-label="Moved by" data-figure="score" data-value={c.score}>
        <span class="meter" style={{ width: "4rem" }}>
          <i style={{ width: 100 * Math.sqrt(c.score / most) + "%" }} />
        </span>
        {show(c.score, "", 2)}
      </td>
      <td class="number">
        {!drawn.includes(c.id) && (
          <button
            type="button"
            class="icon"
            aria-label={"Draw " + name}
            title="Draw it, too"
            onClick={() => change({ m: [...drawn, c.id] })}
          >
            +
          </button>
        )}
      </td>
    </tr>
  );
}

const nameOf = (c: Change) => c.labels.__name__ ?? c.id;

const hrefOf = (c: Change, { from, to }: Window) =>
  link("explore", {
    m: c.id,
    from: String(Math.floor(2 * from - to)),
    to: String(Math.ceil(to)),
    w: `${from}-${to}`,
  });

// Spark draws a metric in the window and the one before, and when it moved.
function Spark({
  line,
  window: { from, to },
  at,
  title,
}: {
  line: Columns;
  window: Window;
  at: number | null;
  title: string;
}) {
  const values = Object.values(line.values)[0] ?? [],
    known = values.filter((v): v is number => v !== null),
    low = Math.min(...known),
    high = Math.max(...known),
    height = 36;
  const x = (time: number) => (pixels * (time - 2 * from + to)) / (2 * (to - from)),
    y = (v: number) => (high > low ? 2 + ((height - 4) * (high - v)) / (high - low) : height / 2);
  const points = values.flatMap((v, i) => (v === null ? [] : [`${x(line.times[i]).toFixed(1)},${y(v).toFixed(1)}`]));
  return (
    <svg viewBox={`0 0 ${pixels} ${height}`} role="img" aria-label={title} style={{ width: "8rem", display: "block" }}>
      <rect x={pixels / 2} width={pixels / 2} height={height} fill="var(--warm)" opacity={0.15} />
      {at !== null && <line x1={x(at)} x2={x(at)} y2={height} stroke="var(--warm)" />}
      <polyline points={points.join(" ")} fill="none" stroke="var(--line-1)" stroke-width={1.4} />
    </svg>
  );
}

const pairs = (where: Pair[]) => where.map((p) => `${p.label}=${p.value}`).join(", ");

// shared is how many of the metrics with some labels moved.
const shared = (where: Pair[]) => `${whole(where.at(-1)!.moved)} of ${whole(where.at(-1)!.of)}`;

// why says what is unusual about a change, since when, and which series of its name moved.
function why(c: Change, from: number, usual: string): string {
  if (!c.moved) return "";
  const day = new Date(from * 1000).toLocaleString("en", { weekday: "long", timeZone: zoneOf() }),
    hour = new Date(from * 1000).toLocaleString("en-GB", { hour: "numeric", timeZone: zoneOf() }),
    weeks = c.seasons.some((s) => (from * 1000 - Date.parse(s)) % (7 * 86400e3) === 0);
  const unusual = c.seasons.length ? `unusual for ${weeks ? "a " + day : "a day"} at ${+hour}, usually ${usual}` : "";
  const moved = c.series > 1 ? `${whole(c.moved)} of ${whole(c.series)} moved` : "moved";
  return [
    `${moved} since ${moment(Date.parse(c.moved_at) / 1000, zoneOf())}`,
    c.lag && `${duration(Math.abs(c.lag))} ${c.lag < 0 ? "earlier" : "later"}`,
    c.where.length > 0 && `${shared(c.where)} with ${pairs(c.where)}`,
    unusual,
  ]
    .filter(Boolean)
    .join(" · ");
}

// place is what tells a metric from others of its name best.
const place = (labels: Record<string, string>) => {
  const told = Object.keys(labels).filter(
    (n) => !["__name__", "metric_id", "resource_id", "resource_type", "job", "unit"].includes(n),
  );
  const first = ["display_name", "host", "instance", "original_resource_id"].find((n) => told.includes(n)) ?? told[0];
  return first ? labels[first] : labels.resource_type === "generic" ? "" : labels.resource_type;
};
