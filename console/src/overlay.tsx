import { useMemo, useState } from "preact/hooks";
import { address } from "./api";
import { Chart, type Line } from "./chart";
import { duration, unitOf } from "./format";
import { archiveFor, quote, readColumns, type Columns, type Metric, type Policy } from "./metrics";
import { Copy, Notice, Panel, useLoad } from "./parts";
import { RangeBar } from "./range_bar";
import { readRange, zoneOf } from "./range";
import { change, link, route } from "./router";
import { DataTable, Summary, type Row } from "./table";

const mostBands = 4;

// Overlay draws chosen metrics on one chart, and says from which archive.
export function Overlay({ metrics }: { metrics: Metric[] }) {
  const { params } = route.use();
  const [width] = useState(() => Math.min(1400, Math.max(300, document.documentElement.clientWidth - 420)));
  const method = params.get("agg") ?? "mean", wanted = params.get("g");
  const range = readRange(params);
  const banded = metrics.length <= mostBands && method === "mean";
  const choose = (p: Policy) => (wanted && p.items.find((i) => i.granularity === +wanted)) || archiveFor(p, range.from, range.to, width);
  const finest = Math.min(...metrics.map((m) => choose(m.policy).granularity));
  const { value, error, loading } = useLoad(async (signal) => {
    const range = readRange(params);
    const columns = await readColumns(metrics, banded ? [method, "min", "max"] : [method], range.from, range.to, choose, signal);
    return { range, columns, method };
  }, [metrics, method, wanted, params.get("from"), params.get("to"), params.get("live")], range.live ? Math.min(30, Math.max(1, finest)) : 0);
  const rows = useMemo<Row[]>(() => (value?.columns ?? []).map((c, i) => row(c, i, value!.method)), [value]);
  const lines: Line[] = rows.map((r, i) => ({ ...r, low: banded ? value!.columns[i].values.min : undefined, high: banded ? value!.columns[i].values.max : undefined }));
  const methods = [...new Set(metrics.flatMap((m) => m.policy.methods))].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, "en", { numeric: true }));
  const granularities = [...new Set(metrics.flatMap((m) => m.policy.items.map((i) => i.granularity)))].sort((a, b) => a - b);
  const unit = unitOf(metrics[0].name ?? "", metrics[0].unit), zone = zoneOf();
  const table = params.get("view") === "table";
  const title = metrics.length === 1 ? metrics[0].name ?? metrics[0].id : `${metrics.length} metrics`;
  return (
    <>
      <RangeBar range={value?.range ?? range}>
        <label class="aside">Show <select aria-label="Aggregation method" value={method} onChange={(e) => change({ agg: e.currentTarget.value === "mean" ? null : e.currentTarget.value })}>
          {(methods.includes(method) ? methods : [method, ...methods]).map((m) => <option key={m}>{m}</option>)}</select></label>
        <label class="aside">of <select aria-label="Granularity" value={wanted ?? ""} onChange={(e) => change({ g: e.currentTarget.value || null })}>
          <option value="">what fits</option>{granularities.map((g) => <option key={g} value={String(g)}>{duration(g)}</option>)}</select></label>
      </RangeBar>
      {error && <Notice bad>{error}</Notice>}
      <Panel title={title} id="drawn" aside={<>
        <button type="button" aria-pressed={table} onClick={() => change({ view: table ? null : "table" })}>Table</button>
        <CopyMenu metrics={metrics} columns={value?.columns} method={method} range={value?.range ?? range} />
      </>}>
        {value && <p class="hint" id="archive">{archives(value.columns, value.method)}</p>}
        {value && (table ? <DataTable rows={rows} unit={unit} zone={zone} name={title} /> : <Chart lines={lines} from={value.range.from} to={value.range.to} height={340} unit={unit} zone={zone} title={title} onZoom={(from, to) => change({ from: String(Math.floor(from)), to: String(Math.ceil(to)) })} />)}
        {!value && loading && <p class="hint">Reading …</p>}
      </Panel>
      {value && <Summary rows={rows} unit={unit} onRemove={(id) => change({ m: metrics.map((m) => m.id).filter((m) => m !== id) })} href={(id) => link("metric", { id })} />}
    </>
  );
}

const order = ["mean", "max", "min", "sum", "count", "last", "first", "median", "std"];
const rank = (method: string) => (order.indexOf(method) + 1 || 99);

function row(c: Columns, i: number, method: string): Row {
  const [used, values] = method in c.values ? [method, c.values[method]] : (Object.entries(c.values)[0] ?? [method, []]);
  return { id: c.metric.id, label: (c.metric.name ?? c.metric.id) + (used === method ? "" : ` (${used})`), color: i, times: c.times, values, step: c.item.granularity };
}

// archives names what a chart is drawn from.
function archives(columns: Columns[], method: string): string {
  const all = new Set(columns.map((c) => {
    const used = method in c.values ? method : Object.keys(c.values)[0] ?? method;
    return `${used} of ${duration(c.item.granularity)}, kept for ${duration(c.item.timespan)} (archive policy ${c.metric.policy.name})`;
  }));
  return "Drawn from " + [...all].join("; ");
}

function CopyMenu({ metrics, columns, method, range }: { metrics: Metric[]; columns?: Columns[]; method: string; range: { from: number; to: number } }) {
  const start = Math.floor(range.from), stop = Math.ceil(range.to), first = metrics[0];
  const g = columns?.[0]?.item.granularity ?? first.policy.items[0].granularity;
  const query = `start=${start}&stop=${stop}&granularity=${g}&aggregation=${encodeURIComponent(method)}`;
  const each = (write: (m: Metric) => string) => metrics.map(write).join("\n");
  return <>
    <Copy label="curl" title="Copy as curl" text={each((m) => `curl -u USER: '${address(`/v1/metric/${m.id}/measures?${query}`)}'`)} />
    <Copy label="gnocchi" title="Copy for Gnocchi's client" text={each((m) => `gnocchi measures show ${m.id} --aggregation ${method} --granularity ${g} --start ${start} --stop ${stop}`)} />
    <Copy label="PromQL" title="Copy as PromQL" text={metrics.map(promqlOf).join(" or ")} />
  </>;
}

export const promqlOf = (m: Metric) => `{${[quote(m.name ?? ""), ...(m.resource ? [`resource_id=${quote(m.resource)}`] : [])].join(", ")}}`;
