import { useEffect, useRef, useState } from "preact/hooks";
import { address, read } from "./api";
import { Chart } from "./chart";
import type { Editor as Rich } from "./editor";
import { axisOf } from "./axis";
import { AxisMenu } from "./axis_menu";
import { Changed, Explain } from "./changes_panel";
import { mark, shades } from "./combined_chart";
import { duration, moment, show, unitOf, whole, type Unit } from "./format";
import { Scroll } from "./scroll";
import { Copy } from "./copy";
import { Menu, Notice, Panel, save, useLoad } from "./widgets";
import { picture } from "./export_png";
import { quantilesIn } from "./histograms";
import { RangeBar } from "./range_bar";
import { Keep } from "./recordings";
import { infinite, infinities, listSeries, newestBefore } from "./metrics";
import { quote, seriesPath } from "./paths";
import { endsFreely, localZone, readRange, readWindow, refreshEvery, zoneOf, type Range } from "./range";
import { change, route } from "./router";
import { useHidden, type Row } from "./legend";
import { DataTable, figures, label, Summary } from "./table";
import { unitOfQuery } from "./unit_of_query";

const mostSeries = 40;

// queriesOf are the expressions of an address.
export const queriesOf = (params: URLSearchParams) => params.getAll("q").filter((q) => q.trim());

// unitOfQueries is the unit on which all agree.
export function unitOfQueries(queries: string[]): Unit {
  const units = new Set(queries.map(unitOfQuery));
  return units.size === 1 ? [...units][0] : "";
}

// evaluate draws expressions of PromQL on one chart.
export async function evaluate(queries: string[], from: number, to: number, signal: AbortSignal): Promise<Answer> {
  const step = stepFor(to - from);
  return join(await Promise.all(queries.map((q) => promql(q, from, to, step, signal))));
}

// QueryView draws expressions in PromQL, or one in the language of dynamic aggregates.
export function QueryView() {
  const { params } = route.use();
  const query = params.get("q") ?? "",
    queries = queriesOf(params),
    lang = params.get("lang") === "aggregates" ? "aggregates" : "promql";
  const range = readRange(params, 3600),
    step = stepFor(range.span),
    zone = zoneOf();
  const wanted = params.get("g") ?? "60",
    instant = lang === "promql" && params.get("view") === "instant";
  const { value, error, loading } = useLoad(
    async (signal) => {
      let range = readRange(params, 3600),
        newest: number | null = null;
      if (!queries.length) return { range, queries, ...nothing };
      if (lang === "aggregates")
        return { range, queries, ...nothing, ...(await aggregates(query, range.from, range.to, wanted, signal)) };
      const ask = async ({ from, to }: Range) =>
        instant
          ? join(await Promise.all(queries.map((q) => promqlAt(q, to, signal))))
          : evaluate(queries, from, to, signal);
      let answer = await ask(range);
      if (isEmpty(answer) && endsFreely(params)) {
        newest = await newestOf(queries, range.from, signal).catch(() => null);
        const to = newest && newest + step;
        if (to) answer = await ask((range = { ...range, from: to - range.span, to, live: false }));
      }
      if (query.trim()) remember(query);
      return { range, queries, newest, ...answer };
    },
    [queries.join("\0"), lang, instant, wanted, params.get("from"), params.get("to"), params.get("live")],
    range.live && queries.length ? refreshEvery(params, Math.min(30, Math.max(2, step))) : 0,
  );
  const rows = value?.rows ?? noRows,
    axis = axisOf(params, lang === "promql" ? unitOfQueries(value?.queries ?? queries) : ""),
    legend = useHidden(rows),
    window = readWindow(params),
    table = params.get("view") === "table";
  const look = (from: number, to: number) => change({ from: String(Math.floor(from)), to: String(Math.ceil(to)) });
  return (
    <>
      <Editor
        query={query}
        others={params
          .getAll("q")
          .slice(1)
          .filter((q) => q.trim())}
        lang={lang}
      />
      <RangeBar range={value?.range ?? range}>
        {lang === "aggregates" && (
          <label class="aside">
            of{" "}
            <input
              size={5}
              aria-label="Granularity in seconds"
              value={wanted}
              onChange={(e) => change({ g: e.currentTarget.value || null })}
            />{" "}
            s
          </label>
        )}
      </RangeBar>
      {error && <Notice bad>{error}</Notice>}
      {queries.length > 0 && (
        <Panel
          title={lang === "promql" ? "PromQL" : "Dynamic aggregates"}
          id="drawn"
          aside={
            <>
              {lang === "promql" && (
                <button
                  type="button"
                  aria-pressed={instant}
                  title="The values at the end of the time, as a table"
                  onClick={() => change({ view: instant ? null : "instant" })}
                >
                  Instant
                </button>
              )}
              <Explain window={window} range={value?.range ?? range} />
              <button type="button" aria-pressed={table} onClick={() => change({ view: table ? null : "table" })}>
                Table
              </button>
              <AxisMenu axis={axis} />
              {lang === "promql" && <Keep query={query} />}
              <button
                type="button"
                onClick={() =>
                  void picture(
                    "drawn",
                    query,
                    legend.shown,
                    `${moment(range.from, zone)} – ${moment(range.to, zone)} ${zone || localZone()}`,
                  ).then((png) => save(png, "query.png"))
                }
                disabled={table || instant || !rows.length}
              >
                PNG
              </button>
              <Copy
                label="curl"
                title="Copy as curl"
                text={
                  lang === "promql"
                    ? `curl -u USER: -G '${address("/api/v1/query_range")}' --data-urlencode '${`query=${query}`.replaceAll("'", "'\\''")}' -d start=${Math.floor(range.from)} -d end=${Math.ceil(range.to)} -d step=${step}`
                    : `curl -u USER: -H 'Content-Type: application/json' '${address(`/v1/aggregates?start=${Math.floor(range.from)}&stop=${Math.ceil(range.to)}&granularity=${wanted}`)}' -d '${JSON.stringify({ operations: query }).replaceAll("'", "'\\''")}'`
                }
              />
            </>
          }
        >
          <p class="hint" id="archive">
            {instant
              ? `At ${moment((value?.range ?? range).to, zone)}`
              : lang === "promql"
                ? `A value every ${duration(step)}`
                : `Groups of ${duration(+wanted)}`}
            {value && value.total > rows.length
              ? lang === "promql"
                ? `; top ${rows.length} of ${whole(value.total)} by ${instant ? "value" : "mean"}`
                : `; the first ${rows.length} of ${whole(value.total)}`
              : ""}
          </p>
          {value?.newest && <Notice>Newest measure {moment(value.newest, zone)}, and none since</Notice>}
          {value?.notes.map((note) => (
            <p class="hint note" key={note}>
              {note}
            </p>
          ))}
          {value &&
            (instant ? (
              <Values rows={rows} unit={axis.unit} />
            ) : table ? (
              <DataTable rows={rows} unit={axis.unit} zone={zone} name="query" />
            ) : (
              <Chart
                lines={legend.shown}
                from={value.range.from}
                to={value.range.to}
                height={320}
                {...axis}
                zone={zone}
                title={value.queries[0] ?? query}
                shades={shades(window)}
                onZoom={window ? mark : look}
                onPan={look}
              />
            ))}
          {!value && loading && <p class="hint">Evaluating …</p>}
          {value && !error && isEmpty(value) && (
            <p class="hint">
              The answer is empty for this time{rows.length ? ": without observations there are no quantiles." : "."}
            </p>
          )}
        </Panel>
      )}
      {window && <Changed />}
      {rows.length > 0 && !instant && <Summary rows={rows} unit={axis.unit} legend={legend} />}
    </>
  );
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
const stepFor = (span: number) => steps.find((s) => span / s <= 600) ?? 86400;

const noRows: Row[] = [];
// An Answer has the series with the highest means, how many there are, and what the server says of them.
export interface Answer {
  rows: Row[];
  total: number;
  notes: string[];
}
const nothing: Answer & { newest: number | null } = { rows: noRows, total: 0, notes: [], newest: null };
const isEmpty = ({ rows }: Answer) => rows.every((r) => r.values.every((v) => v === null));

// newestOf is the time of the newest measure that expressions read, as far as the first series of each selector tell,
// if that is before a time.
async function newestOf(queries: string[], before: number, signal: AbortSignal): Promise<number | null> {
  const trees = await Promise.all(
    queries.map((query) =>
      read<{ data: unknown }>("/api/v1/parse_query?" + new URLSearchParams({ query }), undefined, signal),
    ),
  );
  const found = await Promise.all(selectorsIn(trees).map((match) => listSeries(seriesPath([match], 4), signal)));
  return newestBefore(found.flat(), before, signal);
}

// selectorsIn are those of Prometheus' tree of an expression.
function selectorsIn(tree: unknown): string[] {
  if (typeof tree !== "object" || tree === null) return [];
  const { type, matchers } = tree as { type?: string; matchers?: { name: string; type: string; value: string }[] };
  if (matchers && /Selector$/.test(type ?? ""))
    return [`{${matchers.map((m) => quote(m.name) + m.type + quote(m.value)).join()}}`];
  return Object.values(tree).flatMap(selectorsIn);
}

interface Reply {
  data: {
    resultType: string;
    result: {
      metric: Record<string, string>;
      values?: [number, string][];
      value?: [number, string];
      histogram?: unknown;
      histograms?: unknown;
    }[];
  };
  infos?: string[];
  warnings?: string[];
}

async function promql(query: string, from: number, to: number, step: number, signal: AbortSignal): Promise<Answer> {
  const start = Math.ceil(from / step) * step,
    end = Math.floor(to / step) * step;
  const reply = await read<Reply>(
    "/api/v1/query_range?" + new URLSearchParams({ query, start: String(start), end: String(end), step: String(step) }),
    undefined,
    signal,
  );
  return answer(query, reply, step, (q) => promql(q, from, to, step, signal));
}

// promqlAt asks for the values of one moment. A number or a text is one row without labels.
async function promqlAt(query: string, time: number, signal: AbortSignal): Promise<Answer> {
  const reply = await read<Reply>(
    "/api/v1/query?" + new URLSearchParams({ query, time: time.toFixed(3) }),
    undefined,
    signal,
  );
  const { resultType, result } = reply.data;
  if (resultType === "scalar" || resultType === "string")
    reply.data.result = [{ metric: {}, value: result as unknown as [number, string] }];
  return answer(query, reply, 1, (q) => promqlAt(q, time, signal));
}

// answer names series by the labels that tell them apart: of several, those that all share are left out. Of native
// histograms it asks for quantiles.
async function answer(
  query: string,
  { data, infos = [], warnings = [] }: Reply,
  step: number,
  ask: (query: string) => Promise<Answer>,
): Promise<Answer> {
  const { result } = data,
    shared = (n: string, v: string) => result.length > 1 && result.every(({ metric }) => metric[n] === v),
    notes = [...warnings, ...infos];
  const isID = (n: string) => /^(resource|project|user)_id$/.test(n),
    others = ({ metric }: { metric: Record<string, string> }) =>
      JSON.stringify(Object.entries(metric).filter(([n]) => !isID(n))),
    apart = result.length > 1 && new Set(result.map(others)).size === result.length;
  const numbers = result.filter((r) => r.values ?? r.value);
  const all = numbers.map(({ metric, values, value }, i) => {
    const { __name__: name, ...labels } = metric,
      samples = values ?? (value ? [value] : []),
      called = apart || (labels.display_name ?? labels.host_name); // so that nobody has to read UUIDs
    const rest = Object.entries(labels)
      .filter(([n, v]) => n !== "resource_type" && !shared(n, v) && !(called && isID(n)))
      .map(([n, v]) => `${n}=${v}`)
      .join(", ");
    return {
      id: JSON.stringify(metric),
      label: (name ?? "") + (rest ? `{${rest}}` : "") || query,
      color: i,
      times: samples.map(([t]) => t),
      values: samples.map(([, v]) => (Number.isFinite(+v) ? +v : null)),
      step,
    };
  });
  const left = infinite(numbers.reduce((sum, r) => sum + infinities(r.values ?? [r.value!]), 0));
  if (left) notes.push(left);
  if (result.some((r) => r.histograms ?? r.histogram)) {
    const { rows } = await ask(quantilesIn(query));
    all.push(...rows);
    notes.push(
      "Native histograms are drawn by their quantiles 0.5, 0.9 and 0.99: of a counter, since its start; of rate(…[5m]), of five minutes.",
    );
  }
  return { rows: all, total: all.length, notes };
}

const letter = (i: number) => String.fromCharCode(65 + i);

// join puts answers on one chart: of more series than it draws, those with the highest means.
function join(answers: Answer[]): Answer {
  let rows = answers.flatMap(({ rows }, i) =>
    answers.length > 1
      ? rows.map((row) => ({ ...row, id: letter(i) + row.id, label: `${letter(i)} ${row.label}` }))
      : rows,
  );
  const total = rows.length;
  if (total > mostSeries) {
    const means = new Map(rows.map((row) => [row, figures(row.values).mean ?? -Infinity]));
    rows = rows.sort((a, b) => means.get(b)! - means.get(a)!).slice(0, mostSeries);
  }
  return {
    rows: rows.map((row, color) => ({ ...row, color })),
    total,
    notes: [...new Set(answers.flatMap((a) => a.notes))],
  };
}

// Values is the answer to an instant query, the highest first.
function Values({ rows, unit }: { rows: Row[]; unit: Unit }) {
  const sorted = [...rows].sort((a, b) => (b.values[0] ?? -Infinity) - (a.values[0] ?? -Infinity));
  return (
    <Scroll>
      <table id="instant">
        <tbody>
          {sorted.map((row) => (
            <tr key={row.id}>
              <td>{label(row)}</td>
              <td class="number" data-value={row.values.at(-1) ?? ""}>
                {show(row.values.at(-1), unit || unitOf(row.label.split("{")[0]), 6)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

// The queries that were run last, in this browser.
const historyKey = "gnocco.queries",
  mostRemembered = 30;
function remembered(): string[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(historyKey) ?? "[]");
    return Array.isArray(all) ? all.filter((q): q is string => typeof q === "string") : [];
  } catch {
    return [];
  }
}
function remember(query: string) {
  const all = remembered();
  if (all[0] === query) return;
  try {
    localStorage.setItem(
      historyKey,
      JSON.stringify([query, ...all.filter((q) => q !== query)].slice(0, mostRemembered)),
    );
  } catch {
    /* a browser that stores nothing has no history */
  }
}

async function aggregates(
  operations: string,
  from: number,
  to: number,
  granularity: string,
  signal: AbortSignal,
): Promise<Pick<Answer, "rows" | "total">> {
  const answer = await read<{ measures: Record<string, unknown> }>(
    "/v1/aggregates?" +
      new URLSearchParams({ start: String(Math.floor(from)), stop: String(Math.ceil(to)), granularity }),
    { operations },
    signal,
  );
  const rows: Row[] = [];
  const walk = (label: string, value: unknown) => {
    if (Array.isArray(value)) {
      const all = value as [string, number, number | null][];
      rows.push({
        id: label,
        label,
        color: rows.length,
        times: all.map(([t]) => Date.parse(t) / 1000),
        values: all.map(([, , v]) => v),
        step: all[0]?.[1] ?? +granularity,
      });
    } else for (const [name, inner] of Object.entries(value as object)) walk(label ? label + " " + name : name, inner);
  };
  walk("", answer.measures);
  return { rows: rows.slice(0, mostSeries), total: rows.length };
}

// Editor is a box of text, in which Enter runs, and Shift and Enter begin a line. PromQL gets an editor with completion
// and checks as soon as that is loaded.
function Editor({ query, others, lang }: { query: string; others: string[]; lang: "promql" | "aggregates" }) {
  const [text, setText] = useState(query),
    [rich, setRich] = useState(false);
  const plain = useRef<HTMLTextAreaElement>(null),
    host = useRef<HTMLDivElement>(null),
    editor = useRef<Rich | null>(null);
  const now = useRef(text);
  now.current = text;
  const run = () => change({ q: [now.current, ...rest.current], m: null });
  const rest = useRef(others);
  rest.current = others;
  useEffect(() => {
    setText(query);
    editor.current?.set(query);
  }, [query]);
  useEffect(() => {
    // ƒ(x) hands its focus over, with the caret at the end of what it wrote.
    if (!query || document.activeElement?.matches(".search button")) plain.current?.focus();
  }, []);
  useEffect(() => {
    if (lang !== "promql") return;
    let gone = false;
    import("./editor").then(
      ({ mountEditor }) => {
        if (gone || !host.current) return;
        const focused = document.activeElement === plain.current;
        editor.current = mountEditor(
          host.current,
          now.current,
          examples.promql,
          (text) => {
            now.current = text;
            setText(text);
          },
          run,
        );
        host.current.hidden = false; // what is hidden takes no focus
        setRich(true);
        if (focused) editor.current.focus();
      },
      () => {
        /* the box of text stays */
      },
    );
    return () => {
      gone = true;
      editor.current?.destroy();
      editor.current = null;
      setRich(false);
    };
  }, [lang]);
  const keys = (e: KeyboardEvent) => {
    if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      run();
    }
  };
  return (
    <form
      class="query"
      onSubmit={(e) => {
        e.preventDefault();
        run();
      }}
    >
      <div>
        <div ref={host} class="code" hidden={!rich} />
        {!rich && (
          <textarea
            ref={plain}
            rows={1}
            aria-label="Expression"
            spellcheck={false}
            value={text}
            onInput={(e) => setText(e.currentTarget.value)}
            onKeyDown={keys}
            placeholder={examples[lang]}
          />
        )}
      </div>
      <div class="aside">
        <select
          aria-label="Language"
          value={lang}
          onChange={(e) => change({ lang: e.currentTarget.value === "promql" ? null : e.currentTarget.value })}
        >
          <option value="promql">PromQL</option>
          <option value="aggregates">Aggregates</option>
        </select>
        {lang === "promql" && remembered().length > 0 && (
          <Menu title="History">
            {remembered().map((q) => (
              <button type="button" key={q} title={q} onClick={() => change({ q: [q, ...others], m: null })}>
                {q}
              </button>
            ))}
          </Menu>
        )}
        {lang === "promql" && query.trim() && (
          <button
            type="button"
            title="Keep this expression on the chart, and write another"
            onClick={() => change({ q: ["", ...[query, ...others].filter((q) => q.trim())] })}
          >
            + Query
          </button>
        )}
        <button type="submit" class="main">
          Run
        </button>
      </div>
      {lang === "promql" && others.length > 0 && (
        <ul class="others">
          {others.map((q, i) => (
            <li key={q}>
              <b>{letter(i + (query.trim() ? 1 : 0))}</b>
              <code>{q}</code>
              <button
                type="button"
                class="only"
                aria-label={"Edit " + q}
                onClick={() => change({ q: [q, ...[query, ...others].filter((o) => o.trim() && o !== q)] })}
              >
                edit
              </button>
              <button
                type="button"
                class="only"
                aria-label={"Remove " + q}
                onClick={() => change({ q: [query, ...others.filter((o) => o !== q)] })}
              >
                remove
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}

const examples = {
  promql: 'sum by (resource_id) (rate({"network.eth0.sent.bytes"}[5m]))',
  aggregates: "(aggregate mean (metric (ID mean) (ID mean)))",
};
