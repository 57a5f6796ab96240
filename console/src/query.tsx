import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, read } from "./api";
import { Chart } from "./chart";
import { duration } from "./format";
import { find, type Series } from "./metrics";
import { Copy, Notice, Panel, useLoad } from "./parts";
import { RangeBar } from "./range_bar";
import { readRange, zoneOf } from "./range";
import { change, route } from "./router";
import { DataTable, Summary, type Row } from "./table";

const functions = "sum avg min max count stddev topk bottomk quantile by without rate irate increase delta deriv avg_over_time min_over_time max_over_time sum_over_time count_over_time quantile_over_time last_over_time abs ceil floor round clamp histogram_quantile offset bool group_left ignoring".split(" ");
const operations = "metric aggregate resample rolling clip clip_min clip_max rateofchange rateofchangesec abs neg floor ceil mean median std min max sum count last first".split(" ");
const mostSeries = 40;

// QueryView draws an expression in PromQL, or in the language of dynamic aggregates.
export function QueryView() {
  const { params } = route.use();
  const query = params.get("q") ?? "", lang = params.get("lang") === "aggregates" ? "aggregates" : "promql";
  const range = readRange(params, "1h"), step = stepFor(range.span), zone = zoneOf();
  const wanted = params.get("g") ?? "60";
  const { value, error, loading } = useLoad(async (signal) => {
    const range = readRange(params, "1h");
    if (!query.trim()) return { range, rows: [] as Row[] };
    return { range, rows: await (lang === "promql" ? promql(query, range.from, range.to, step, signal) : aggregates(query, range.from, range.to, wanted, signal)) };
  }, [query, lang, wanted, params.get("from"), params.get("to"), params.get("live")], range.live && query.trim() ? Math.min(30, Math.max(2, step)) : 0);
  const rows = value?.rows ?? [], table = params.get("view") === "table";
  return (
    <>
      <Editor query={query} lang={lang} />
      <RangeBar range={value?.range ?? range} standard="1h">
        {lang === "aggregates" && <label class="aside">of <input size={5} aria-label="Granularity in seconds" value={wanted} onChange={(e) => change({ g: e.currentTarget.value || null })} /> s</label>}
      </RangeBar>
      {error && <Notice bad>{error}</Notice>}
      {query.trim() && <Panel title={lang === "promql" ? "PromQL" : "Dynamic aggregates"} id="drawn" aside={<>
        <button type="button" aria-pressed={table} onClick={() => change({ view: table ? null : "table" })}>Table</button>
        <Copy label="curl" title="Copy as curl" text={lang === "promql"
          ? `curl -u USER: -G '${address("/api/v1/query_range")}' --data-urlencode '${`query=${query}`.replaceAll("'", "'\\''")}' -d start=${Math.floor(range.from)} -d end=${Math.ceil(range.to)} -d step=${step}`
          : `curl -u USER: -H 'Content-Type: application/json' '${address(`/v1/aggregates?start=${Math.floor(range.from)}&stop=${Math.ceil(range.to)}&granularity=${wanted}`)}' -d '${JSON.stringify({ operations: query }).replaceAll("'", "'\\''")}'`} />
      </>}>
        <p class="hint" id="archive">{lang === "promql" ? `A value every ${duration(step)}` : `Groups of ${duration(+wanted)}`}{rows.length === mostSeries ? `; the first ${mostSeries} series` : ""}</p>
        {value && (table ? <DataTable rows={rows} unit="" zone={zone} name="query" /> : <Chart lines={rows} from={value.range.from} to={value.range.to} height={320} unit="" zone={zone} title={query} onZoom={(from, to) => change({ from: String(Math.floor(from)), to: String(Math.ceil(to)) })} />)}
        {!value && loading && <p class="hint">Evaluating …</p>}
        {value && !rows.length && !error && <p class="hint">The answer is empty for this time.</p>}
      </Panel>}
      {rows.length > 0 && <Summary rows={rows} unit="" />}
    </>
  );
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
const stepFor = (span: number) => steps.find((s) => span / s <= 600) ?? 86400;

async function promql(query: string, from: number, to: number, step: number, signal: AbortSignal): Promise<Row[]> {
  const start = Math.ceil(from / step) * step, end = Math.floor(to / step) * step;
  const answer = await read<{ data: { result: { metric: Record<string, string>; values: [number, string][] }[] } }>(
    "/api/v1/query_range?" + new URLSearchParams({ query, start: String(start), end: String(end), step: String(step) }), undefined, signal);
  return answer.data.result.slice(0, mostSeries).map(({ metric, values }, i) => {
    const { __name__: name, ...labels } = metric;
    const rest = Object.entries(labels).filter(([n]) => n !== "resource_type").map(([n, v]) => `${n}=${v}`).join(", ");
    return { id: String(i), label: (name ?? "") + (rest ? `{${rest}}` : "") || query, color: i, times: values.map(([t]) => t), values: values.map(([, v]) => (Number.isFinite(+v) ? +v : null)), step };
  });
}

async function aggregates(operations: string, from: number, to: number, granularity: string, signal: AbortSignal): Promise<Row[]> {
  const answer = await read<{ measures: Record<string, unknown> }>("/v1/aggregates?" + new URLSearchParams({ start: String(Math.floor(from)), stop: String(Math.ceil(to)), granularity }), { operations }, signal);
  const rows: Row[] = [];
  const walk = (label: string, value: unknown) => {
    if (Array.isArray(value)) {
      const all = value as [string, number, number | null][];
      rows.push({ id: label, label, color: rows.length, times: all.map(([t]) => Date.parse(t) / 1000), values: all.map(([, , v]) => v), step: all[0]?.[1] ?? +granularity });
    } else for (const [name, inner] of Object.entries(value as object)) walk(label ? label + " " + name : name, inner);
  };
  walk("", answer.measures);
  return rows.slice(0, mostSeries);
}

// Editor is a box of text that completes functions and names of metrics. Enter runs, Shift and Enter begins a line.
function Editor({ query, lang }: { query: string; lang: "promql" | "aggregates" }) {
  const [text, setText] = useState(query), [offers, setOffers] = useState<string[]>([]), [at, setAt] = useState(0);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => setText(query), [query]);
  useEffect(() => { if (!query) box.current?.focus(); }, []);
  const word = useMemo(() => /[\w.:]*$/.exec(text.slice(0, box.current?.selectionStart ?? text.length))![0], [text]);
  useEffect(() => {
    if (word.length < 2 || text === query) { setOffers([]); return; }
    const stop = new AbortController();
    const known = (lang === "promql" ? functions : operations).filter((f) => f.startsWith(word) && f !== word);
    void find(word, [], 20, stop.signal).then((found) => names(found.series), () => []).then((names) => {
      if (!stop.signal.aborted) { setOffers([...known, ...names.filter((n) => n !== word)].slice(0, 10)); setAt(0); }
    });
    return () => stop.abort();
  }, [word, lang]);
  const run = () => { setOffers([]); change({ q: text, m: null }); };
  const take = (offer: string) => {
    const end = box.current?.selectionStart ?? text.length;
    const plain = functions.includes(offer) || operations.includes(offer) || /^[A-Za-z_:][\w:]*$/.test(offer);
    const insert = plain || lang === "aggregates" ? offer : `{"${offer.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"}`;
    setText(text.slice(0, end - word.length) + insert + text.slice(end));
    setOffers([]);
    box.current?.focus();
  };
  const keys = (e: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (offers.length && move) { e.preventDefault(); setAt((at + move + offers.length) % offers.length); }
    else if (offers.length && e.key === "Tab") { e.preventDefault(); take(offers[at]); }
    else if (e.key === "Escape") setOffers([]);
    else if (e.key === "Enter" && !e.shiftKey) { e.preventDefault(); run(); }
  };
  return (
    <form class="query" onSubmit={(e) => { e.preventDefault(); run(); }}>
      <textarea ref={box} rows={1} aria-label="Expression" spellcheck={false} value={text} onInput={(e) => setText(e.currentTarget.value)} onKeyDown={keys}
        placeholder={lang === "promql" ? 'sum by (resource_id) (rate({"network.eth0.sent.bytes"}[5m]))' : "(aggregate mean (metric (ID mean) (ID mean)))"} />
      <div class="aside">
        <select aria-label="Language" value={lang} onChange={(e) => change({ lang: e.currentTarget.value === "promql" ? null : e.currentTarget.value })}><option value="promql">PromQL</option><option value="aggregates">Aggregates</option></select>
        <button type="submit" class="main">Run</button>
      </div>
      {offers.length > 0 && <ul class="completions" role="listbox">{offers.map((offer, i) => <li key={offer} role="option" aria-selected={i === at} onMouseDown={(e) => { e.preventDefault(); take(offer); }}>{offer}</li>)}</ul>}
    </form>
  );
}

const names = (series: Series[]) => [...new Set(series.map((s) => s.name))];
