import uPlot from "uplot";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { show, moment, type Unit } from "./format";
import { theme } from "./theme";

// A Line is what a chart draws of one series: values and, where there are, the lowest and highest measures of each group.
export interface Line { label: string; color: number; times: number[]; values: (number | null)[]; low?: (number | null)[]; high?: (number | null)[]; step: number }

interface Props {
  lines: Line[]; from: number; to: number; height: number; unit: Unit; zone: string; title: string;
  onZoom?: (from: number, to: number) => void; small?: boolean;
}

export const colorOf = (index: number) => `var(--line-${(index % 8) + 1})`;
const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// table joins lines on one time axis. Where a group is missing a null makes a gap; where only another line has a group, an undefined
// makes none.
function table(lines: Line[]): uPlot.AlignedData {
  if (!lines.length) return [[]];
  return uPlot.join(lines.map((line) => {
    const times: number[] = [], columns: (number | null)[][] = [line.values, ...(line.low && line.high ? [line.low, line.high] : [])];
    const out: (number | null)[][] = columns.map(() => []);
    line.times.forEach((time, i) => {
      if (i && time - line.times[i - 1] > 2.5 * line.step) {
        times.push(line.times[i - 1] + line.step);
        out.forEach((column) => column.push(null));
      }
      times.push(time);
      out.forEach((column, k) => column.push(columns[k][i]));
    });
    return [times, ...out] as uPlot.AlignedData;
  }));
}

function alpha(color: string, share: number): string {
  const n = parseInt(color.slice(1), 16);
  return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${share})`;
}

function options(p: Props, width: number, tip: HTMLElement): uPlot.Options {
  const series: uPlot.Series[] = [{}], bands: uPlot.Band[] = [];
  for (const line of p.lines) {
    const color = css(`--line-${(line.color % 8) + 1}`) || "#000000";
    series.push({ label: line.label, stroke: color, width: p.small ? 1.5 : 1.75, points: { show: line.times.length < 3 } });
    if (line.low && line.high) {
      bands.push({ series: [series.length + 1, series.length], fill: alpha(color, 0.16) });
      series.push({ stroke: "transparent", points: { show: false } }, { stroke: "transparent", points: { show: false } });
    }
  }
  const axis = { stroke: css("--faint"), grid: { stroke: css("--grid"), width: 1 }, ticks: { show: false }, font: `${p.small ? 10 : 11}px system-ui, sans-serif` };
  return {
    width, height: p.height, series, bands,
    legend: { show: false },
    padding: [10, p.small ? 20 : 30, 0, 0],
    scales: { x: { time: true, range: () => [p.from, p.to] }, y: { range: (_, low, high) => bounds(low, high, p.unit) } },
    axes: [
      { ...axis, space: p.small ? 60 : 80, values: (_, times) => labels(times, p.zone), size: 26 },
      { ...axis, space: p.small ? 28 : 40, size: p.small ? 56 : 68, values: (_, values) => values.map((v) => show(v, p.unit, 4)) },
    ],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), p.zone),
    cursor: { drag: { x: !!p.onZoom, y: false, setScale: false }, points: { size: 6 }, y: false },
    hooks: {
      setSelect: [(u) => {
        const { left, width } = u.select;
        if (width < 4) return;
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        p.onZoom?.(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
      }],
      setCursor: [(u) => readOut(u, p, tip)],
    },
  };
}

// bounds leaves some air, and keeps the zero where values are near it.
function bounds(low: number | null, high: number | null, unit: Unit): uPlot.Range.MinMax {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, unit === "percent" ? 100 : 1];
  if (low === high) { const d = Math.abs(low) * 0.1 || 1; low -= d; high += d; }
  const air = (high - low) * 0.06;
  const floor = low >= 0 && low < (high - low) * 1.5 ? 0 : low - air;
  return [floor, unit === "percent" && high <= 100 && high > 60 ? 100 : high + air];
}

// labels writes the ticks of the time axis: the day where it changes, else the time.
function labels(times: number[], zone: string): string[] {
  let day = "";
  const step = times.length > 1 ? times[1] - times[0] : 0;
  return times.map((t) => {
    const [date, time] = moment(t, zone).split(" ");
    if (step >= 86400) return date.slice(5);
    const begins = date !== day && (day !== "" || time === "00:00:00");
    day = date;
    return begins ? date.slice(5) : step < 60 ? time : time.slice(0, 5);
  });
}

// readOut shows the values under the cursor.
function readOut(u: uPlot, p: Props, tip: HTMLElement) {
  const { idx, left } = u.cursor;
  if (idx === null || idx === undefined || left === undefined || left < 0) { tip.hidden = true; return; }
  const time = u.data[0][idx];
  const rows: HTMLElement[] = [];
  let column = 1;
  for (const line of p.lines) {
    const value = u.data[column]?.[idx] as number | null | undefined;
    const banded = !!(line.low && line.high);
    if (value !== null && value !== undefined) {
      const row = document.createElement("div");
      const dot = document.createElement("i");
      dot.style.background = css(`--line-${(line.color % 8) + 1}`);
      const name = document.createElement("span");
      name.textContent = line.label;
      const number = document.createElement("b");
      number.textContent = show(value, p.unit);
      row.append(dot, name, number);
      rows.push(row);
    }
    column += banded ? 3 : 1;
  }
  if (!rows.length) { tip.hidden = true; return; }
  const head = document.createElement("time");
  head.textContent = moment(time, p.zone);
  tip.replaceChildren(head, ...rows.slice(0, 12));
  tip.hidden = false;
  const x = left + u.bbox.left / devicePixelRatio, room = u.width - x;
  tip.style.left = room > tip.offsetWidth + 24 ? x + 14 + "px" : Math.max(0, x - tip.offsetWidth - 14) + "px";
}

export function Chart(p: Props) {
  const box = useRef<HTMLDivElement>(null), tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null), now = useRef(p), shape = useRef("");
  now.current = p;
  const colors = theme.use();
  const looks = JSON.stringify([colors, p.unit, p.zone, p.height, p.small, !!p.onZoom, p.lines.map((l) => [l.label, l.color, !!l.low && !!l.high, l.times.length < 3])]);
  useLayoutEffect(() => {
    const element = box.current!;
    if (plot.current && shape.current === looks) {
      plot.current.setData(table(p.lines));
      return;
    }
    plot.current?.destroy();
    shape.current = looks;
    const live = { get lines() { return now.current.lines; }, get from() { return now.current.from; }, get to() { return now.current.to; } };
    const props = Object.assign(Object.create(null, Object.getOwnPropertyDescriptors(live)), { height: p.height, unit: p.unit, zone: p.zone, title: p.title, small: p.small, onZoom: p.onZoom && ((a: number, b: number) => now.current.onZoom?.(a, b)) });
    plot.current = new uPlot(options(props, element.clientWidth || 300, tip.current!), table(p.lines), element);
  }, [looks, p.lines, p.from, p.to]);
  useEffect(() => {
    const observer = new ResizeObserver(() => { if (box.current) plot.current?.setSize({ width: box.current.clientWidth, height: now.current.height }); });
    observer.observe(box.current!);
    return () => { observer.disconnect(); plot.current?.destroy(); plot.current = null; };
  }, []);
  return (
    <div class="chart" style={{ height: p.height + "px" }} role="img" aria-label={p.title}>
      <div ref={box} />
      <div class="tip" ref={tip} hidden />
    </div>
  );
}
