import uPlot from "uplot";
import { useLayoutEffect, useRef } from "preact/hooks";
import { show, moment, type Unit } from "./format";
import { nth } from "./quickselect";
import { theme } from "./theme";

// A Line is what a chart draws of one series: values and, where there are, the lowest and highest measures of each
// group. Dashed lines are of another time or method than the plain one of their colour; dots are single measures.
export interface Line {
  label: string;
  color: number;
  times: number[];
  values: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  step: number;
  look?: "dashed" | "dotted" | "dots";
}

// A Mark is a moment at which something happened; a Shade a time to show.
export interface Mark {
  time: number;
  label: string;
}
export interface Shade {
  from: number;
  to: number;
  faint?: boolean;
}

interface Props {
  lines: Line[];
  from: number;
  to: number;
  height: number;
  unit: Unit;
  zone: string;
  title: string;
  onZoom?: (from: number, to: number) => void; // by dragging over the chart
  onPan?: (from: number, to: number) => void; // by dragging the time axis, or with Shift
  marks?: Mark[];
  shades?: Shade[];
  small?: boolean;
  log?: boolean; // values that are not positive are left out
  stacked?: boolean;
}

// colorOf is the colour of a line in the page, lineColor in a picture: one of the theme's eight, then one of a circle
// that is walked by the golden angle, in three shades, so that neighbours differ.
export const colorOf = (index: number) => (index < 8 ? `var(--line-${index + 1})` : circle(index));
export const lineColor = (index: number) => (index < 8 ? css(`--line-${index + 1}`) || "#000000" : circle(index));

function circle(index: number): string {
  const dark = theme.get() === "dark",
    hue = (index * 137.508) % 360,
    light = (dark ? [0.68, 0.58, 0.78] : [0.42, 0.32, 0.52])[index % 3];
  const part = (n: number) => {
    const k = (n + hue / 30) % 12,
      value = light - 0.6 * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, "0");
  };
  return "#" + part(0) + part(8) + part(4);
}

// css is a colour of the theme. Asked for once: the browser would have to know the styles of the page as it is, each
// time.
function css(name: string): string {
  const key = theme.get() + name;
  let value = styles.get(key);
  if (value === undefined)
    styles.set(key, (value = getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
  return value;
}
const styles = new Map<string, string>();

// spacing is the usual time between groups: many metrics are measured less often than their archive could have it.
function spacing(times: number[]): number {
  const all = new Float64Array(Math.max(0, times.length - 1));
  for (let i = 0; i < all.length; i++) all[i] = times[i + 1] - times[i];
  return all.length ? nth(all, all.length >> 1) : 0;
}

// table joins lines on one time axis. Where a group is missing a null makes a gap; where only another line has a group,
// an undefined makes none. Lines of one archive mostly share their times, of which gaps are looked for once.
function table(lines: Line[]): uPlot.AlignedData {
  const groups: { of: Line; columns: (number | null)[][] }[] = [];
  for (const line of lines) {
    const columns = [line.values, ...(line.low && line.high ? [line.low, line.high] : [])],
      last = groups[groups.length - 1];
    if (line.times.length === 1 && line.look !== "dots") {
      // A lone group is a line as long as the group.
      const [time] = line.times;
      groups.push({
        of: { ...line, times: [time, time + line.step] },
        columns: columns.map(([value]) => [value, value]),
      });
      continue;
    }
    if (
      last &&
      last.of.times === line.times &&
      last.of.step === line.step &&
      last.of.look !== "dots" &&
      line.look !== "dots"
    )
      last.columns.push(...columns);
    else groups.push({ of: line, columns });
  }
  return groups.length
    ? uPlot.join(
        groups.map(({ of: { times, step, look }, columns }) => {
          const gap = 2.5 * Math.max(step, spacing(times)),
            ends: number[] = [];
          if (look !== "dots") for (let i = 1; i < times.length; i++) if (times[i] - times[i - 1] > gap) ends.push(i);
          if (!ends.length) return [times, ...columns] as uPlot.AlignedData;
          const cut = <T,>(all: T[], between: (i: number) => T) =>
            [0, ...ends].flatMap((from, k) => [...(k ? [between(from)] : []), ...all.slice(from, ends[k])]);
          return [
            cut(times, (i) => times[i - 1] + step),
            ...columns.map((c) => cut(c, () => null)),
          ] as uPlot.AlignedData;
        }),
      )
    : [[]];
}

// stack adds each line to those before it. The lines get one time axis, on which a missing value counts nothing.
function stack(lines: Line[]): Line[] {
  const times = [...new Set(lines.flatMap((l) => l.times))].sort((a, b) => a - b),
    sums = new Float64Array(times.length);
  return lines.map((line) => {
    const at = new Map(line.times.map((t, i) => [t, line.values[i]]));
    return {
      ...line,
      low: undefined,
      high: undefined,
      times,
      values: times.map((t, i) => (sums[i] += at.get(t) ?? 0)),
    };
  });
}

// drawnOf is the data of a chart.
function drawnOf({ lines, stacked, log }: Props): uPlot.AlignedData {
  const positive = (all: (number | null)[]) => all.map((v) => (v !== null && v > 0 ? v : null));
  if (stacked) return table(stack(lines));
  if (!log) return table(lines);
  return table(
    lines.map((l) => ({
      ...l,
      values: positive(l.values),
      low: l.low && positive(l.low),
      high: l.high && positive(l.high),
    })),
  );
}

function alpha(color: string, share: number): string {
  const n = parseInt(color.slice(1), 16);
  return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${share})`;
}

function options(p: Props, width: number, tip: HTMLElement): uPlot.Options {
  const series: uPlot.Series[] = [{}],
    bands: uPlot.Band[] = [];
  for (const line of p.lines) {
    const color = lineColor(line.color);
    const dots = line.look === "dots";
    series.push({
      label: line.label,
      stroke: line.look ? alpha(color, dots ? 0.75 : 0.85) : color,
      width: dots ? 0 : p.small || line.look ? 1.4 : 1.75,
      dash: line.look === "dashed" ? [6, 4] : line.look === "dotted" ? [2, 3] : undefined,
      ...(dots && { paths: () => null }),
      points: dots ? { show: true, size: 4, width: 0, fill: alpha(color, 0.75) } : { show: line.times.length < 3 },
    });
    if (p.stacked) {
      const fill = alpha(color, 0.35);
      if (series.length > 2) bands.push({ series: [series.length - 1, series.length - 2], fill });
      else series[1].fill = fill;
    } else if (line.low && line.high) {
      bands.push({ series: [series.length + 1, series.length], fill: alpha(color, 0.16) });
      series.push(
        { stroke: "transparent", points: { show: false } },
        { stroke: "transparent", points: { show: false } },
      );
    }
  }
  const pan = { by: 0 },
    base = p.unit.startsWith("bytes") ? 2 : 10;
  const axis = {
    stroke: css("--faint"),
    grid: { stroke: css("--grid"), width: 1 },
    ticks: { show: false },
    font: `${p.small ? 10 : 11}px system-ui, sans-serif`,
  };
  return {
    width,
    height: p.height,
    series,
    bands,
    legend: { show: false },
    padding: [10, 30, 0, 0],
    scales: {
      x: { time: true, range: () => [p.from + pan.by, p.to + pan.by] },
      y: p.log
        ? {
            distr: 3,
            log: base,
            range: (_, low, high) => (low > 0 ? uPlot.rangeLog(low, high, base, false) : [1, base]),
          }
        : { range: (_, low, high) => bounds(low, high, p.unit) },
    },
    axes: [
      {
        ...axis,
        space: width < 400 ? (p.to - p.from < 300 ? 50 : 40) : p.small ? 60 : 80,
        values: (_, times) => labels(times, p.zone),
        size: 26,
      },
      {
        ...axis,
        space: p.small ? 28 : 40,
        incrs: p.unit.startsWith("bytes") && !p.log ? powersOfTwo : undefined,
        size: (_, texts) =>
          Math.max(p.small ? 56 : 68, 14 + 6 * Math.max(0, ...(texts ?? []).map((text) => text.length))),
        values: (_, values) =>
          values.map((v) => (v === null ? "" : show(v, p.unit, p.log ? 3 : digitsBetween(values)))),
      },
    ],
    tzDate: (seconds) => {
      const date = new Date(seconds * 1000);
      return p.zone ? uPlot.tzDate(date, p.zone) : date;
    },
    cursor: {
      drag: { x: !!p.onZoom, y: false, setScale: false },
      points: { size: 6 },
      y: false,
      bind: {
        mousedown: (u, _, zoom) => (e: MouseEvent) => {
          if (e.shiftKey && p.onPan) drag(u, p, pan, e);
          else zoom(e);
          return null;
        },
      },
    },
    hooks: {
      ready: [
        (u) => {
          const axis = u.root.querySelector<HTMLElement>(".u-axis");
          if (!axis || !p.onPan) return;
          axis.classList.add("pans");
          axis.title = "Drag to move in time";
          axis.addEventListener("mousedown", (e) => drag(u, p, pan, e));
        },
      ],
      drawClear: [(u) => shade(u, p)],
      draw: [(u) => mark(u, p)],
      setSelect: [
        (u) => {
          const { left, width } = u.select;
          if (width < 4) return;
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          p.onZoom?.(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
        },
      ],
      setCursor: [(u) => readOut(u, p, tip)],
    },
  };
}

// powersOfTwo are the distances of an axis' ticks that are round in KiB, MiB and so on.
const powersOfTwo = Array.from({ length: 80 }, (_, i) => 2 ** (i - 16));

// drag moves the chart with the mouse until the button is released.
function drag(u: uPlot, p: Props, pan: { by: number }, start: MouseEvent) {
  if (start.button !== 0) return;
  const perPixel = (p.to - p.from) / u.over.clientWidth;
  const move = (e: MouseEvent) => {
    pan.by = (start.clientX - e.clientX) * perPixel;
    u.setScale("x", { min: p.from + pan.by, max: p.to + pan.by });
  };
  const end = (e: MouseEvent) => {
    document.removeEventListener("mousemove", move);
    document.removeEventListener("mouseup", end);
    const by = (start.clientX - e.clientX) * perPixel;
    pan.by = 0;
    if (Math.abs(start.clientX - e.clientX) > 3) p.onPan?.(p.from + by, p.to + by);
    else u.setScale("x", { min: p.from, max: p.to });
  };
  document.addEventListener("mousemove", move);
  document.addEventListener("mouseup", end);
}

// shade draws times behind the lines.
function shade(u: uPlot, p: Props) {
  for (const s of p.shades ?? []) {
    const left = Math.max(u.bbox.left, u.valToPos(s.from, "x", true)),
      right = Math.min(u.bbox.left + u.bbox.width, u.valToPos(s.to, "x", true));
    u.ctx.fillStyle = alpha(css("--warm"), s.faint ? 0.09 : 0.22);
    if (right > left) u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
  }
}

// mark draws moments as lines with a flag.
function mark(u: uPlot, p: Props) {
  if (!p.marks?.length) return;
  const size = devicePixelRatio;
  u.ctx.save();
  u.ctx.strokeStyle = u.ctx.fillStyle = css("--warm");
  u.ctx.lineWidth = size;
  for (const m of p.marks) {
    const x = Math.round(u.valToPos(m.time, "x", true));
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x + 7 * size, u.bbox.top + 4 * size);
    u.ctx.lineTo(x, u.bbox.top + 8 * size);
    u.ctx.fill();
  }
  u.ctx.restore();
}

// bounds leaves some air, and keeps the zero where values are near it. A share has the whole.
function bounds(low: number | null, high: number | null, unit: Unit): uPlot.Range.MinMax {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high))
    return [0, unit === "percent" ? 100 : 1];
  const whole = unit === "percent" ? 100 : unit === "ratio" ? 1 : 0;
  if (whole && low >= 0 && high <= 1.02 * whole) return [0, Math.max(whole, high)];
  if (low === 0 && high === 0) return [0, 1];
  if (high - low <= 1e-12 * Math.abs(high)) {
    // One value, but for the last bits of a sum.
    const d = unit === "time" ? 3600 : Math.abs(low) * 0.1 || 1;
    low -= d;
    high += d;
  }
  const air = (high - low) * 0.06;
  const floor = low >= 0 && low < (high - low) * 1.5 ? 0 : low - air;
  return [floor, high + air];
}

// digitsBetween is how many digits tell the ticks of an axis apart, 4 at least.
function digitsBetween(ticks: number[]): number {
  const step = Math.abs((ticks[1] ?? 0) - (ticks[0] ?? 0)),
    most = Math.max(...ticks.map(Math.abs));
  return step > 0 ? Math.min(9, Math.max(4, Math.ceil(Math.log10(most / step)) + 1)) : 4;
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
    return begins ? date.slice(5) : step && step < 60 ? time : time.slice(0, 5);
  });
}

// readOut shows the values under the cursor.
function readOut(u: uPlot, p: Props, tip: HTMLElement) {
  const { idx, left } = u.cursor;
  if (idx === null || idx === undefined || left === undefined || left < 0) {
    tip.hidden = true;
    return;
  }
  const time = u.data[0][idx];
  const rows: HTMLElement[] = [];
  let column = 1;
  for (const line of p.lines) {
    let value = u.data[column]?.[idx] as number | null | undefined;
    if (p.stacked && column > 1 && typeof value === "number") value -= (u.data[column - 1][idx] as number | null) ?? 0;
    const banded = !!(line.low && line.high) && !p.stacked;
    if (value !== null && value !== undefined) {
      const row = document.createElement("div");
      const dot = document.createElement("i");
      dot.style.background = colorOf(line.color);
      const name = document.createElement("span");
      name.textContent = line.label;
      const number = document.createElement("b");
      number.textContent = show(value, p.unit);
      row.append(dot, name, number);
      rows.push(row);
    }
    column += banded ? 3 : 1;
  }
  const wide = u.bbox.width / devicePixelRatio,
    near = (4 * (p.to - p.from)) / wide;
  for (const m of p.marks ?? []) {
    if (Math.abs(m.time - time) > Math.max(near, Math.abs((u.data[0][idx + 1] ?? time) - time))) continue;
    const row = document.createElement("div"),
      flag = document.createElement("i"),
      text = document.createElement("span");
    flag.style.background = "var(--warm)";
    text.textContent = m.label;
    row.append(flag, text);
    rows.unshift(row);
  }
  if (!rows.length) {
    tip.hidden = true;
    return;
  }
  const head = document.createElement("time");
  head.textContent = moment(time, p.zone);
  tip.replaceChildren(head, ...rows.slice(0, 12));
  tip.hidden = false;
  const x = left + u.bbox.left / devicePixelRatio,
    behind = left < wide / 2; // what it measures itself, the browser would lay out for each move
  tip.style.left = behind ? x + 14 + "px" : "auto";
  tip.style.right = behind ? "auto" : u.width - x + 14 + "px";
}

export function Chart(p: Props) {
  const box = useRef<HTMLDivElement>(null),
    tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null),
    now = useRef(p),
    shape = useRef(""),
    wanted = useRef("");
  now.current = p;
  const colors = theme.use();
  const looks = JSON.stringify([
    colors,
    p.unit,
    p.zone,
    p.height,
    p.small,
    !!p.onZoom,
    !!p.onPan,
    !!p.log,
    !!p.stacked,
    p.lines.map((l) => [l.label, l.color, l.look, !!l.low && !!l.high, l.times.length < 3]),
  ]);
  const plotAs = (looks: string, width: number) => {
    plot.current?.destroy();
    shape.current = looks;
    // The plot stays while what it shows changes.
    const live = new Proxy(p, { get: (_, name) => now.current[name as keyof Props] });
    plot.current = new uPlot(options(live, width || 300, tip.current!), drawnOf(now.current), box.current!);
  };
  useLayoutEffect(() => {
    wanted.current = looks;
    if (!plot.current) return; // its width is told below
    if (shape.current === looks) plot.current.setData(drawnOf(p));
    else plotAs(looks, plot.current.width);
  }, [looks, p.lines, p.from, p.to, p.marks, JSON.stringify(p.shades)]);
  // The browser tells the width before it draws, of all charts at once: a chart that measured itself would have it lay
  // out the page again.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(
      ([
        {
          contentRect: { width },
        },
      ]) => {
        if (!plot.current) plotAs(wanted.current, width);
        else if (width !== plot.current.width) plot.current.setSize({ width, height: now.current.height });
      },
    );
    observer.observe(box.current!);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  return (
    <div class="chart" style={{ height: p.height + "px" }} role="img" aria-label={p.title}>
      <div ref={box} />
      <div class="tip" ref={tip} hidden />
    </div>
  );
}
