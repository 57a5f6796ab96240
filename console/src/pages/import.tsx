import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { read, request } from "../api";
import {
  clockOf,
  decimalOf,
  formsOf,
  isGap,
  measuresOf,
  number,
  readSheet,
  textOf,
  timeColumn,
  type Decimal,
  type Form,
  type Measures,
  type Sheet,
} from "../csv";
import { count, duration, moment, whole } from "../format";
import { listSeries, readPolicy, type Archive, type Policy } from "../metrics";
import { metricPath, policiesPath, quote, seriesPath } from "../paths";
import { localZone, zoneOf } from "../range";
import { link } from "../router";
import { Scroll } from "../scroll";
import { Notice, Panel, useLoad } from "../widgets";

const shownRows = 6,
  shownFaults = 10,
  batch = 20_000, // measures of a request
  mostBytes = 256 * 2 ** 20;

interface File_ {
  name: string;
  sheet: Sheet;
}

// Import brings a file to the server: it shows how it reads the file, and what an archive policy keeps of it, before
// anything is sent.
export function Import() {
  const [file, setFile] = useState<File_ | null>(null),
    [error, setError] = useState(""),
    [over, setOver] = useState(false);
  const open = async (f: File | undefined) => {
    if (!f) return;
    setError("");
    setFile(null);
    try {
      if (f.size > mostBytes)
        throw new Error(`This file is larger than 256 MiB: gnocco import csv ${f.name} reads files of any size`);
      const text = await textOf(f);
      if (text.slice(0, 4096).includes("\0") || /^(PK\x03|\x1f.\x08|%PDF)/.test(text))
        throw new Error(
          `${f.name} is no text: export it as CSV. gnocco import csv also reads CSV compressed by gzip, zstd, bzip2 or xz`,
        );
      if (/^\s*[[{]\s*["{}]/.test(text))
        throw new Error(`${f.name} is JSON: gnocco import jsonl reads a file of an object a line`);
      const sheet = readSheet(text);
      if (sheet.header.length < 2 || !sheet.rows.length)
        throw new Error("This file has no rows with a time and a value");
      setFile({ name: f.name, sheet });
    } catch (e) {
      setError((e as Error).message);
    }
  };
  return (
    <>
      <Panel title="Bring a file">
        <label
          class="drop"
          style={{
            display: "grid",
            gridTemplateColumns: "minmax(0, auto)",
            gap: "0.8rem",
            justifyItems: "center",
            padding: "1.6rem 1rem",
            border: `2px dashed var(${over ? "--accent" : "--line"})`,
            borderRadius: "10px",
          }}
          onDragOver={(e) => {
            e.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(e) => {
            e.preventDefault();
            setOver(false);
            const files = e.dataTransfer?.files;
            if (files && files.length > 1) setError(`${count(files.length, "file")} were dropped: bring one at a time`);
            else void open(files?.[0]);
          }}
        >
          <input
            type="file"
            style={{ maxWidth: "100%" }}
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(e) => void open(e.currentTarget.files?.[0])}
          />
          <span>A CSV file, dropped here: a column of times, and a column for each metric. Nothing is sent yet.</span>
        </label>
      </Panel>
      {error && <Notice bad>{error}</Notice>}
      {file && <Plan key={file.name + file.sheet.rows.length} {...file} />}
    </>
  );
}

type State =
  { at: "plan" } | { at: "sending"; sent: number } | { at: "done"; ids: string[]; sent: number; dropped: number };

// Plan says how a file is read and what is kept of it, and sends it.
function Plan({ name, sheet }: File_) {
  const [time, setTime] = useState(() => timeColumn(sheet)),
    [off, setOff] = useState<number[]>([]),
    [decimal, setDecimal] = useState<Decimal>(() => decimalOf(sheet)),
    [zone, setZone] = useState("UTC"),
    [resource, setResource] = useState(name.replace(/\.(csv|tsv|txt)$/i, "").replaceAll("/", "_") || "csv"),
    [chosen, setChosen] = useState<string | null>(null),
    [state, setState] = useState<State>({ at: "plan" }),
    [error, setError] = useState("");
  const { header, rows } = sheet;
  const couldBe = useMemo(() => (time < 0 ? [] : formsOf(rows.map((r) => r[time] ?? ""))), [sheet, time]),
    [picked, setPicked] = useState<string | null>(null),
    form: Form | undefined = couldBe.length === 1 ? couldBe[0] : couldBe.find((f) => f.name === picked);
  const numeric = useMemo(
    () =>
      header.map((_, i) => {
        const known = rows
          .slice(0, 1000)
          .map((r) => r[i] ?? "")
          .filter((c) => !isGap(c));
        return known.length > 0 && known.filter((c) => !Number.isNaN(number(c, decimal))).length >= known.length / 2;
      }),
    [sheet, decimal],
  );
  const columns = header.map((_, i) => i).filter((i) => i !== time && numeric[i] && !off.includes(i));
  const content = useMemo<Measures | null>(
    () => (form ? measuresOf(sheet, time, clockOf(form, zone), columns, decimal) : null),
    [sheet, time, form, zone, columns.join(), decimal],
  );
  const { value: known } = useLoad(
    async (signal) =>
      (await read<Parameters<typeof readPolicy>[0][]>(policiesPath, undefined, signal))
        .map(readPolicy)
        .filter((p) => p.methods.some((m) => m === "mean" || m === "last")),
    [],
  );
  const { value: had } = useLoad(
    async (signal) => (resource.trim() ? metricsOf(resource.trim(), signal) : new Map<string, Stored>()),
    [resource],
  );
  const policies = useMemo(
    () =>
      content && known
        ? known.map((policy) => ({ policy, kept: keptOf(policy, content.times) })).sort((a, b) => worth(b) - worth(a))
        : [],
    [known, content],
  );
  const best = policies.find((p) => p.policy.name === chosen) ?? policies[0],
    there = columns.filter((i) => had?.has(header[i]));
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const send = async () => {
    setError("");
    stop.current = new AbortController();
    try {
      const done = await sendAll(resource.trim(), best.policy.name, content!, stop.current.signal, (sent) =>
        setState({ at: "sending", sent }),
      );
      setState({ at: "done", ...done });
    } catch (e) {
      const { signal } = stop.current;
      setError(
        signal.aborted
          ? "Cancelled. What was sent stays: the same import again goes on from there."
          : (e as Error).message,
      );
      setState({ at: "plan" });
    }
  };
  const wrong =
    time < 0
      ? "Which column has the times?"
      : couldBe.length === 0
        ? `The cells of ${header[time]} are no times of one form`
        : !form
          ? "The times can be read in several ways: choose one"
          : columns.length === 0
            ? "No column has numbers"
            : !resource.trim()
              ? "The resource has no name"
              : !content!.measures
                ? "There is no measure"
                : "";
  return (
    <>
      <Panel title={name} id="columns" aside={<span class="hint">{count(rows.length, "row")}</span>}>
        <Scroll>
          <table>
            <thead>
              <tr>
                {header.map((name, i) => (
                  <th key={i} scope="col" class={columns.includes(i) ? "number" : undefined}>
                    {name}
                    <select
                      style={{ display: "block", marginLeft: columns.includes(i) ? "auto" : undefined }}
                      aria-label={"What " + name + " is"}
                      value={i === time ? "time" : columns.includes(i) ? "metric" : ""}
                      onChange={(e) => {
                        const is = e.currentTarget.value;
                        if (is === "time") setTime(i);
                        else if (i === time) setTime(-1);
                        setOff(is === "" ? [...off, i] : off.filter((o) => o !== i));
                      }}
                    >
                      <option value="time">time</option>
                      {(numeric[i] || i === time) && <option value="metric">metric</option>}
                      <option value="">left out</option>
                    </select>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, shownRows).map((row, k) => (
                <tr key={k}>
                  {header.map((_, i) => (
                    <td key={i} class={columns.includes(i) ? "number" : undefined}>
                      {row[i]}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </Panel>
      <form
        class="panel save bring"
        aria-label="How the file is read"
        onSubmit={(e) => {
          e.preventDefault();
          if (!wrong && best) void send();
        }}
      >
        {couldBe.length > 1 && (
          <label>
            Times are written as
            <select value={picked ?? ""} onChange={(e) => setPicked(e.currentTarget.value)}>
              <option value="">choose</option>
              {couldBe.map((f) => (
                <option key={f.name}>{f.name}</option>
              ))}
            </select>
          </label>
        )}
        {form?.fields && (
          <label>
            Zone of times without one
            <select value={zone} onChange={(e) => setZone(e.currentTarget.value)}>
              {[...new Set(["UTC", localZone(), zoneOf() || "UTC"])].map((z) => (
                <option key={z}>{z}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          Decimal separator
          <select value={decimal} onChange={(e) => setDecimal(e.currentTarget.value as Decimal)}>
            <option value=".">point</option>
            <option value=",">comma</option>
          </select>
        </label>
        <label>
          Resource
          <input value={resource} maxLength={200} required onInput={(e) => setResource(e.currentTarget.value)} />
        </label>
        <label>
          Archive policy of new metrics
          <select value={best?.policy.name ?? ""} onChange={(e) => setChosen(e.currentTarget.value)}>
            {policies.map(({ policy, kept }) => (
              <option key={policy.name} value={policy.name}>
                {policy.name}
                {kept.groups === content!.times.length ? ", keeps all" : ""}
              </option>
            ))}
          </select>
        </label>
        {wrong && <Notice>{wrong}</Notice>}
        {!wrong && content && best && (
          <ul id="plan" style={{ flexBasis: "100%" }} data-measures={content.measures} data-groups={best.kept.groups}>
            <li>
              {count(content.measures, "measure")} of {columns.map((i) => header[i]).join(", ")}, from{" "}
              {moment(content.times[0], zone)} to {moment(content.times[content.times.length - 1], zone)} {zone}
              {every(content.times)}.
            </li>
            <li>{keeps(best.policy, best.kept, content.times.length)}</li>
            {there.length > 0 && (
              <li>
                {resource} has {there.map((i) => header[i]).join(", ")} already: these keep their archive policies (
                {[...new Set(there.map((i) => had!.get(header[i])!.policy))].join(", ")}), and measures before their
                back windows are dropped.
              </li>
            )}
            {content.repeated > 0 && (
              <li>
                {count(content.repeated, "row")} with the time of another: the last counts. Rows of several series are
                read by gnocco import csv, with --metric-column or --resource-column.
              </li>
            )}
            {content.rejected.length > 0 && (
              <li id="rejected">
                {count(content.rejected.length, "cell")} cannot be read and{" "}
                {content.rejected.length === 1 ? "is" : "are"} left out:{" "}
                {content.rejected
                  .slice(0, shownFaults)
                  .map((r) => `line ${whole(r.line)}: ${r.why}`)
                  .join("; ")}
                {content.rejected.length > shownFaults && " …"}
              </li>
            )}
          </ul>
        )}
        {error && <Notice bad>{error}</Notice>}
        {state.at === "plan" && (
          <button type="submit" class="main" disabled={!!wrong || !best}>
            Import
          </button>
        )}
        {state.at === "sending" && content && (
          <p>
            <progress aria-label="Sent" max={content.measures} value={state.sent} /> {whole(state.sent)} of{" "}
            {count(content.measures, "measure")}{" "}
            <button type="button" onClick={() => stop.current?.abort()}>
              Cancel
            </button>
          </p>
        )}
        {state.at === "done" && (
          <Notice bad={state.dropped > 0}>
            <span id="done" data-sent={state.sent} data-dropped={state.dropped}>
              {count(state.sent, "measure")} of {count(state.ids.length, "metric")} sent
              {state.dropped > 0
                ? `, of which ${whole(state.dropped)} were older than the back window and are not stored. "gnocco import csv" puts them where nothing is.`
                : ", and all stored."}{" "}
            </span>
            <a href={link("explore", { m: state.ids.slice(0, 40), from: "all" })}>Draw them</a>
          </Notice>
        )}
      </form>
    </>
  );
}

interface Stored {
  id: string;
  policy: string;
}

// metricsOf are the metrics that a resource has, by name.
async function metricsOf(resource: string, signal?: AbortSignal): Promise<Map<string, Stored>> {
  const all = await listSeries(seriesPath([`{original_resource_id=${quote(resource)}}`], 0), signal);
  return new Map(all.map(({ id, of }) => [of.name ?? "", { id, policy: of.policy }]));
}

// Kept is what a policy keeps of measures: groups of a granularity, of the measures within its timespan.
interface Kept {
  granularity: number;
  groups: number;
  old: number; // measures older than all timespans
}

function keptOf(policy: Policy, times: Float64Array): Kept {
  const last = times[times.length - 1] ?? 0,
    reach = (span: number) => (span ? times.findIndex((t) => t > last - span) : 0);
  const { granularity, timespan } = policy.items[0];
  let groups = 0,
    before = NaN;
  for (const t of times.subarray(reach(timespan))) {
    const group = Math.floor(t / granularity);
    if (group !== before) groups++;
    before = group;
  }
  return { granularity, groups, old: Math.min(...policy.items.map((i) => reach(i.timespan))) };
}

// worth ranks policies: those that keep most, and of these the coarsest.
const worth = ({ kept }: { kept: Kept }) => kept.groups - kept.old + 1 / (1 + 1 / kept.granularity);

function keeps(policy: Policy, { granularity, groups, old }: Kept, times: number): string {
  const rest = policy.items
    .slice(1)
    .map((i) => `${duration(i.granularity)}${i.timespan ? " for " + duration(i.timespan) : ""}`);
  return (
    `${policy.name} keeps ${groups === times ? "each measure in a group of its own" : `${count(groups, "group")} of the ${count(times, "time")}`}, ` +
    `by ${duration(granularity)}${policy.items[0].timespan ? " for " + duration(policy.items[0].timespan) : ""}` +
    (rest.length ? ` (and ${rest.join(", ")})` : "") +
    (groups < times ? ": measures of one group are merged into its mean, minimum and so on" : "") +
    (old ? `; ${count(old, "measure")} of each metric older than all timespans are not kept` : "") +
    "."
  );
}

// every says how far apart most measures are.
function every(times: Float64Array): string {
  if (times.length < 3) return "";
  const steps = Array.from({ length: Math.min(999, times.length - 1) }, (_, i) => times[i + 1] - times[i]).sort(
    (a, b) => a - b,
  );
  return `, one every ${duration(Math.round(1000 * steps[steps.length >> 1]) / 1000)}`;
}

// sendAll creates the resource and its metrics, and sends the measures in the order of time: a metric takes none from
// before its back window. A repeated import changes nothing.
async function sendAll(
  resource: string,
  policy: string,
  { times, values }: Measures,
  signal: AbortSignal,
  progress: (sent: number) => void,
) {
  const there = await read<unknown[]>(
    "/v1/search/resource/generic",
    { "=": { original_resource_id: resource } },
    signal,
  );
  if (!there.length) await request("POST", "/v1/resource/generic", { id: resource }, signal);
  const before = await dropped(await metricsOf(resource, signal), signal);
  const step = Math.max(1, Math.floor(batch / values.size));
  let sent = 0;
  progress(0);
  for (let first = 0; first < times.length; first += step) {
    const metrics: Record<string, object> = {};
    for (const [name, column] of values) {
      const measures = [];
      for (let i = first; i < Math.min(times.length, first + step); i++)
        if (!Number.isNaN(column[i])) measures.push({ timestamp: times[i], value: column[i] });
      if (measures.length) metrics[name] = { archive_policy_name: policy, measures };
      sent += measures.length;
    }
    if (Object.keys(metrics).length)
      await request(
        "POST",
        "/v1/batch/resources/metrics/measures?create_metrics=true",
        { [resource]: metrics },
        signal,
      );
    progress(sent);
  }
  const all = await metricsOf(resource, signal),
    its = new Map([...all].filter(([name]) => values.has(name)));
  const after = await dropped(its, signal, "?refresh=true");
  let lost = 0;
  for (const [name, n] of after) lost += n - (before.get(name) ?? 0);
  return { ids: [...its.values()].map((m) => m.id), sent, dropped: lost };
}

// dropped is how many measures of each metric came too late.
async function dropped(metrics: Map<string, Stored>, signal: AbortSignal, query = ""): Promise<Map<string, number>> {
  const all = await Promise.all(
    [...metrics].map(
      async ([name, { id }]) =>
        [name, (await read<Archive>(metricPath(id) + "/archive" + query, undefined, signal)).dropped_measures] as const,
    ),
  );
  return new Map(all);
}
