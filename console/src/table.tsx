import { useMemo, useState } from "preact/hooks";
import { colorOf } from "./chart";
import { breakable } from "./finder";
import { count, moment, show, type Unit } from "./format";
import type { Row, useHidden } from "./legend";
import { nth } from "./quickselect";
import { Scroll } from "./scroll";
import { Panel, save } from "./widgets";

// label is a row's label, of which a line holds whole words, and of a long name parts.
export function label({ label }: Row) {
  const end = label.search(/\{| · |$/);
  return [breakable(label.slice(0, end)), <wbr key="" />, label.slice(end)];
}

interface Figures {
  last: number | null;
  min: number | null;
  mean: number | null;
  max: number | null;
  p95: number | null;
}

// figures sums up the values shown. The percentile interpolates as those of archives do.
export function figures(values: (number | null)[]): Figures {
  const all = new Float64Array(values.length);
  let n = 0,
    min = Infinity,
    max = -Infinity,
    sum = 0;
  for (const v of values) {
    if (v === null || v === undefined) continue;
    all[n++] = v;
    if (v < min) min = v;
    if (v > max) max = v;
    sum += v;
  }
  if (!n) return { last: null, min: null, mean: null, max: null, p95: null };
  const last = all[n - 1],
    at = 0.95 * (n - 1),
    low = Math.floor(at),
    p95 = nth(all.subarray(0, n), low);
  let next = max;
  for (let i = low + 1; i < n; i++) if (all[i] < next) next = all[i];
  return { last, min, mean: sum / n, max, p95: p95 + (at - low) * (next - p95) };
}

const columns: (keyof Figures)[] = ["last", "min", "mean", "p95", "max"];

// Summary has a line for each series, the highest first by the figure that is chosen. It is the chart's legend.
export function Summary({
  rows,
  unit,
  legend: { hidden, hide, isolate },
  onRemove,
  href,
}: {
  rows: Row[];
  unit: Unit;
  legend: ReturnType<typeof useHidden>;
  onRemove?: (id: string) => void;
  href?: (id: string) => string;
}) {
  const [by, setBy] = useState<keyof Figures | "">("mean");
  const all = useMemo(() => rows.map((row) => ({ row, figures: figures(row.values) })), [rows]);
  if (by) all.sort((a, b) => (b.figures[by] ?? -Infinity) - (a.figures[by] ?? -Infinity));
  return (
    <Panel title="Statistics">
      <Scroll>
        <table id="summary">
          <thead>
            <tr>
              <th scope="col">Series</th>
              {columns.map((c) => (
                <th scope="col" class="number" key={c} aria-sort={by === c ? "descending" : undefined}>
                  <button type="button" title="Highest first" onClick={() => setBy(c)}>
                    {c}
                    {by === c ? " ↓" : ""}
                  </button>
                </th>
              ))}
              <th />
            </tr>
          </thead>
          <tbody>
            {all.map(({ row, figures }) => (
              <tr key={row.id} class={hidden.has(row.id) ? "off" : undefined}>
                <td>
                  <button
                    type="button"
                    class="key"
                    aria-pressed={!hidden.has(row.id)}
                    aria-label={"Draw " + row.label}
                    title="Draw this line, or not"
                    onClick={() => hide(row.id)}
                  >
                    <i class="dot" style={{ background: colorOf(row.color) }} />
                  </button>
                  {href && !row.derived ? <a href={href(row.id)}>{label(row)}</a> : label(row)}
                </td>
                {columns.map((c) => (
                  <td class="number" key={c} data-value={figures[c] ?? ""} data-figure={c}>
                    {show(figures[c], unit)}
                  </td>
                ))}
                <td class="number">
                  {rows.length > 1 && (
                    <button
                      type="button"
                      class="only"
                      aria-label={"Only " + row.label}
                      title="Draw this line only, or all again"
                      onClick={() => isolate(row.id)}
                    >
                      only
                    </button>
                  )}
                  {onRemove && !row.derived && (
                    <button
                      type="button"
                      class="icon"
                      aria-label={"Remove " + row.label}
                      title="Remove"
                      onClick={() => onRemove(row.id)}
                    >
                      ×
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  );
}

const mostRows = 300;

// join returns the times of all rows, newest first, with the value of each row.
function join(rows: Row[]): [number, (number | null)[]][] {
  const at = new Map<number, (number | null)[]>();
  rows.forEach((row, k) =>
    row.times.forEach((time, i) => {
      const values = at.get(time) ?? new Array(rows.length).fill(null);
      values[k] = row.values[i];
      at.set(time, values);
    }),
  );
  return [...at].sort((a, b) => b[0] - a[0]);
}

const cell = (text: string) => (/[",\n\r]|^[=+\-@]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);

function csv(rows: Row[]): string {
  return (
    [
      ["timestamp", ...rows.map((r) => cell(r.label))].join(),
      ...join(rows)
        .reverse()
        .map(([time, values]) => [new Date(time * 1000).toISOString(), ...values.map((v) => v ?? "")].join()),
    ].join("\n") + "\n"
  );
}

// DataTable shows the newest values; the CSV file has them all.
export function DataTable({ rows, unit, zone, name }: { rows: Row[]; unit: Unit; zone: string; name: string }) {
  const joined = useMemo(() => join(rows), [rows]);
  return (
    <>
      <p class="aside">
        <span>
          {joined.length > mostRows && `The newest ${mostRows} of `}
          {count(joined.length, "row")}
        </span>
        <button type="button" onClick={() => save(new Blob([csv(rows)], { type: "text/csv" }), name + ".csv")}>
          CSV
        </button>
      </p>
      <Scroll>
        <table id="values">
          <thead>
            <tr>
              <th scope="col">Time</th>
              {rows.map((r) => (
                <th scope="col" class="number" key={r.id}>
                  {r.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {joined.slice(0, mostRows).map(([time, values]) => (
              <tr key={time} data-time={time}>
                <td class="mono">{moment(time, zone)}</td>
                {values.map((v, i) => (
                  <td class="number" key={i} data-value={v ?? ""}>
                    {show(v, unit, 6)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}
