import { useEffect, useMemo, useState } from "preact/hooks";
import { read } from "../api";
import { Chart } from "../chart";
import {
  arrange,
  gone,
  jobOf,
  listJobs,
  metricsOf,
  mostDrawn,
  pairOf,
  pairsOf,
  pushedCalled,
  redundantOf,
  removeJob,
  startJob,
  type Job,
  type Named,
  type Pair,
  type Redundant,
} from "../correlations";
import { count, duration, moment, show, unitOf, whole } from "../format";
import { HeatMap } from "../heat_map";
import { SavingPlan } from "../saving_plan";
import { Scroll } from "../scroll";
import { Figure } from "../figure";
import { type Loaded, Notice, Panel, useLoad } from "../widgets";
import { resourcesPath, typesPath } from "../paths";
import { zoneOf } from "../range";
import { change, link, route } from "../router";

// Correlations asks which metrics say the same, and shows the answers.
export function Correlations() {
  const { params } = route.use();
  const [asked, ask] = useState(0),
    [busy, setBusy] = useState(false);
  const jobs = useLoad(
    async (signal) => {
      const all = await listJobs(signal);
      setBusy(all.some(unfinished));
      return all;
    },
    [asked, params.get("job")],
    busy ? 1 : 15,
  );
  const id = params.get("job"),
    again = () => ask((n) => n + 1);
  return (
    <>
      {jobs.error && <Notice bad>{jobs.error}</Notice>}
      <div class="two correlate">
        <Ask onStarted={again} />
        <Jobs jobs={jobs.value} chosen={id} onChange={again} />
      </div>
      {id && <Result key={id} id={id} />}
    </>
  );
}

const unfinished = (job: Job) => job.state === "queued" || job.state === "running";
const about = (job: Job) => `${count(job.metrics, "metric")}, ${job.aggregation} of ${duration(job.granularity)}`;

const starts: [string, string][] = [
  ["1h", "the last hour"],
  ["6h", "the last 6 hours"],
  ["1d", "the last day"],
  ["7d", "the last 7 days"],
  ["30d", "the last 30 days"],
  ["", "all that is kept"],
];
const seconds: Record<string, number> = { "1h": 3600, "6h": 21600, "1d": 86400, "7d": 604800, "30d": 2592000 };

const pushed = ""; // the type of resource that pushed series have

// Ask starts a job from a search.
function Ask({ onStarted }: { onStarted: () => void }) {
  const types = useLoad((signal) => read<{ name: string }[]>(typesPath, undefined, signal), []);
  const [name, setName] = useState("*"),
    [chosenType, setType] = useState<string | null>(null),
    [search, setSearch] = useState(""),
    [since, setSince] = useState("1d");
  const [aggregation, setAggregation] = useState("mean"),
    [granularity, setGranularity] = useState(""),
    [lag, setLag] = useState(0);
  const [failed, fail] = useState(""),
    [waits, wait] = useState(false);
  const { value: some } = useLoad(
    async (signal) => (await read<{ data: { total: number } }>(resourcesPath(), undefined, signal)).data.total > 0,
    [],
  );
  const type = chosenType ?? (some === false ? pushed : "generic");
  const submit = async (e: Event) => {
    e.preventDefault();
    fail("");
    wait(true);
    try {
      const pattern = name.trim() || "*";
      const job = await startJob({
        ...(type === pushed
          ? { metrics: await pushedCalled(pattern) }
          : { resource_type: type, name: pattern, ...(search.trim() && { search: search.trim() }) }),
        aggregation,
        lag,
        ...(granularity && { granularity: Number(granularity) }),
        ...(since && { start: Math.floor(Date.now() / 1000) - seconds[since] }),
      });
      change({ job: job.id, x: null, y: null });
      onStarted();
    } catch (error) {
      fail((error as Error).message);
    }
    wait(false);
  };
  return (
    <Panel title="Which metrics are redundant?" id="ask">
      {failed && <Notice bad>{failed}</Notice>}
      <form class="ask-form" onSubmit={submit}>
        <label class="field">
          Metrics called
          <input name="name" value={name} placeholder="cpu*" onInput={(e) => setName(e.currentTarget.value)} />
        </label>
        <label class="field">
          Of resources of type
          <select value={type} onChange={(e) => setType(e.currentTarget.value)}>
            <option value={pushed}>none: pushed series</option>
            {(types.value ?? [{ name: "generic" }]).map((t) => (
              <option key={t.name} value={t.name}>
                {t.name}
              </option>
            ))}
          </select>
        </label>
        <label class="field whole">
          Filter of the resources
          <input
            name="search"
            value={search}
            disabled={type === pushed}
            placeholder="all; or a filter such as project_id = 'x'"
            onInput={(e) => setSearch(e.currentTarget.value)}
          />
        </label>
        <label class="field">
          Within
          <select value={since} onChange={(e) => setSince(e.currentTarget.value)}>
            {starts.map(([v, text]) => (
              <option key={v} value={v}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Aggregates
          <select value={aggregation} onChange={(e) => setAggregation(e.currentTarget.value)}>
            {["mean", "max", "min", "sum", "last", "count", "95pct", "rate:mean"].map((m) => (
              <option key={m} value={m}>
                {m}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Granularity
          <select value={granularity} onChange={(e) => setGranularity(e.currentTarget.value)}>
            {[
              ["", "finest shared"],
              ["1", "1 s"],
              ["10", "10 s"],
              ["60", "1 min"],
              ["300", "5 min"],
              ["3600", "1 h"],
              ["86400", "1 day"],
            ].map(([v, text]) => (
              <option key={v} value={v}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Largest lag, in groups
          <input
            type="number"
            min={0}
            max={1000}
            value={lag}
            onInput={(e) => {
              const n = e.currentTarget.valueAsNumber;
              if (n >= 0) setLag(Math.floor(n));
            }}
          />
        </label>
        <p class="whole">
          <button type="submit" class="main" disabled={waits}>
            {waits ? "Reading …" : "Correlate"}
          </button>
        </p>
      </form>
    </Panel>
  );
}

function Progress({ job }: { job: Job }) {
  return (
    <div
      class="meter"
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(100 * job.progress)}
    >
      <i style={{ width: 100 * job.progress + "%" }} />
    </div>
  );
}

function Jobs({ jobs, chosen, onChange }: { jobs?: Job[]; chosen: string | null; onChange: () => void }) {
  const [failed, fail] = useState("");
  const zone = zoneOf();
  const remove = (id: string) => {
    fail("");
    removeJob(id).then(
      () => {
        if (id === chosen) change({ job: null, x: null, y: null });
        onChange();
      },
      (e: Error) => fail(e.message),
    );
  };
  return (
    <Panel title="Jobs" id="jobs" aside={<span>kept until the server stops</span>}>
      {failed && <Notice bad>{failed}</Notice>}
      {jobs?.length === 0 && (
        <p class="hint">None yet. A job reads the aggregates of up to 2,000 metrics and correlates all pairs.</p>
      )}
      {!!jobs?.length && (
        <Scroll>
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">Started</th>
                <th scope="col">Of</th>
                <th scope="col">State</th>
                <th scope="col">
                  <span class="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {jobs.slice(0, 12).map((job) => (
                <tr
                  key={job.id}
                  data-job={job.id}
                  data-state={job.state}
                  aria-current={job.id === chosen ? "true" : undefined}
                >
                  <td>
                    <a class="mono" href={link("correlations", { job: job.id })}>
                      {moment(Date.parse(job.started_at) / 1000, zone)}
                    </a>
                  </td>
                  <td>{about(job)}</td>
                  <td>
                    {unfinished(job) ? (
                      <>
                        {job.state}
                        <Progress job={job} />
                      </>
                    ) : job.state === "done" ? (
                      count(job.total, "pair")
                    ) : (
                      <span class="badly">{job.error || "failed"}</span>
                    )}
                  </td>
                  <td class="number">
                    <button type="button" onClick={() => remove(job.id)}>
                      {unfinished(job) ? "Cancel" : "Remove"}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

// Result shows a job: how far it is, or what it has come to.
function Result({ id }: { id: string }) {
  const [waits, setWaits] = useState(true),
    [lost, lose] = useState(false);
  const { value: job, error } = useLoad(
    async (signal) => {
      try {
        const job = await jobOf(id, signal);
        setWaits(unfinished(job));
        return job;
      } catch (e) {
        if (gone(e)) {
          lose(true);
          setWaits(false);
        }
        throw e;
      }
    },
    [id],
    waits ? 0.5 : 0,
  );
  if (lost)
    return (
      <Notice>
        This correlation is gone: they live in the memory of the process that computed them, until newer ones need the
        place. Ask again.
      </Notice>
    );
  if (!job) return error ? <Notice bad>{error}</Notice> : <Notice>Reading …</Notice>;
  if (job.state === "failed")
    return (
      <Notice bad>
        The correlation of {about(job)} failed: {job.error}
      </Notice>
    );
  if (unfinished(job))
    return (
      <Panel title={`Correlating ${about(job)}`}>
        <Progress job={job} />
        <p class="hint">
          {job.state === "queued"
            ? "Another one is computed first."
            : Math.floor(100 * job.progress) + " % of the groups"}
        </p>
      </Panel>
    );
  if (job.groups === 0) return <Notice>None of the {count(job.metrics, "metric")} has aggregates in this time.</Notice>;
  if (job.total === 0)
    return (
      <Notice>
        No pair of the {count(job.metrics, "metric")} has a coefficient:{" "}
        {job.constant.length === job.metrics ? "all of them are constant or missing." : "they share too few groups."}
      </Notice>
    );
  return <Done job={job} />;
}

function Done({ job }: { job: Job }) {
  const { params } = route.use();
  const { value, error } = useLoad(
    async (signal) => {
      const [metrics, pairs] = await Promise.all([metricsOf(job.id, signal), pairsOf(job.id, signal)]);
      return { metrics: new Map(metrics.map((m) => [m.id, m])), pairs, matrix: arrange(pairs) };
    },
    [job.id],
  );
  const redundant = useRedundant(job);
  const several = useMemo(
    () => new Set([...(value?.metrics.values() ?? [])].map((m) => m.resource_id)).size > 1,
    [value],
  );
  if (error) return <Notice bad>{error}</Notice>;
  if (!value) return <Notice>Reading {count(job.total, "pair")} …</Notice>;
  const name = (id: string) => {
    const m = value.metrics.get(id);
    return (m?.name ?? id) + (several && m?.resource_id ? " · " + m.resource_id.slice(0, 8) : "");
  };
  const words = (p: Pair) =>
    `r ${fixed(p.r)}` +
    (p.lag ? `, ${name(p.lag > 0 ? p.y : p.x)} follows by ${duration(Math.abs(p.lag) * job.granularity)}` : "");
  const x = params.get("x"),
    y = params.get("y"),
    chosen = x && y ? (pairOf(value.matrix, x, y) ?? value.pairs.find((p) => p.x === x && p.y === y)) : undefined;
  const pick = (x: string, y: string) => change({ x, y });
  return (
    <>
      <Panel
        title="Result"
        id="result"
        aside={
          <span>
            {job.aggregation} of {duration(job.granularity)}
            {job.max_lag > 0 && `, lag up to ${duration(job.max_lag * job.granularity)}`}
          </span>
        }
      >
        <dl class="figures">
          <Figure
            id="job-metrics"
            name="Metrics"
            value={whole(job.metrics)}
            about={job.constant.length ? `${job.constant.length} of them constant or missing` : undefined}
          />
          <Figure
            id="job-pairs"
            name="Pairs"
            value={whole(job.total)}
            about={job.truncated ? "the strongest of more" : "all of them"}
          />
          <Figure id="job-groups" name="Groups" value={whole(job.groups)} about={"of " + duration(job.granularity)} />
          <Figure
            id="job-strong"
            name="Pairs of 0.99 or more"
            value={whole(value.pairs.filter((p) => Math.abs(p.r) >= 0.99).length)}
            about="say the same"
          />
        </dl>
      </Panel>
      <div class="two maps">
        <Panel
          title="All pairs"
          id="map"
          aside={
            value.matrix.left > 0 && (
              <span>
                the {mostDrawn} of the strongest pairs, of {count(mostDrawn + value.matrix.left, "metric")}
              </span>
            )
          }
        >
          <HeatMap
            matrix={value.matrix}
            name={name}
            words={words}
            chosen={chosen && [chosen.x, chosen.y]}
            onPick={pick}
          />
        </Panel>
        <Panel title="The strongest pairs" id="strongest">
          <Scroll>
            <table>
              <thead>
                <tr>
                  <th scope="col">Pair</th>
                  <th scope="col" class="number">
                    r
                  </th>
                  {job.max_lag > 0 && (
                    <th scope="col" class="number">
                      Lag
                    </th>
                  )}
                </tr>
              </thead>
              <tbody>
                {value.pairs.slice(0, 15).map((p) => (
                  <tr
                    key={p.x + p.y}
                    data-x={p.x}
                    data-y={p.y}
                    data-r={p.r}
                    data-lag={p.lag}
                    aria-current={
                      chosen && ((p.x === chosen.x && p.y === chosen.y) || (p.x === chosen.y && p.y === chosen.x))
                        ? "true"
                        : undefined
                    }
                  >
                    <td>
                      <button type="button" class="pair" onClick={() => pick(p.x, p.y)}>
                        {name(p.x)}
                        <small>and</small>
                        {name(p.y)}
                      </button>
                    </td>
                    <td class="number">{fixed(p.r)}</td>
                    {job.max_lag > 0 && (
                      <td class="number">
                        {p.lag ? (p.lag < 0 ? "−" : "") + duration(Math.abs(p.lag) * job.granularity) : "0"}
                      </td>
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </Panel>
      </div>
      {chosen && (
        <SideBySide
          key={chosen.x + chosen.y}
          pair={chosen}
          job={job}
          metrics={value.metrics}
          name={name}
          words={words}
        />
      )}
      <Redundancy job={job} name={name} {...redundant} />
    </>
  );
}

const fixed = (r: number) =>
  Math.abs(r) > 0.99995 && Math.abs(r) < 1
    ? (r < 0 ? "−" : "") + "0.9999…"
    : r
        .toFixed(4)
        .replace("-", "−")
        .replace(/\.?0+$/, "");

type Rows = [string, number, number | null][];

// SideBySide draws two metrics above each other on one time axis, the second moved by the lag.
function SideBySide({
  pair,
  job,
  metrics,
  name,
  words,
}: {
  pair: Pair;
  job: Job;
  metrics: Map<string, Named>;
  name: (id: string) => string;
  words: (p: Pair) => string;
}) {
  const [moved, move] = useState(pair.lag !== 0),
    zone = zoneOf();
  useEffect(() => {
    document.getElementById("pair")?.scrollIntoView({ block: "nearest" });
  }, []);
  const { value, error } = useLoad(
    async (signal) => {
      const query = new URLSearchParams({
        aggregation: job.aggregation,
        granularity: String(job.granularity),
        ...(job.start && { start: job.start }),
        ...(job.stop && { stop: job.stop }),
      });
      return await Promise.all(
        [pair.x, pair.y].map(async (id) => {
          const rows = await read<Rows>(`/v1/metric/${id}/measures?${query}`, undefined, signal);
          return {
            times: rows.map(([t]) => Date.parse(t) / 1000),
            values: rows.map(([, , v]) => (v !== null && isFinite(v) ? v : null)),
          };
        }),
      );
    },
    [pair.x, pair.y],
  );
  const shift = moved ? -pair.lag * job.granularity : 0;
  const times = value?.flatMap((v) => [v.times[0], v.times.at(-1)!]).filter((t) => t !== undefined) ?? [];
  const [from, to] = [Math.min(...times), Math.max(...times) + job.granularity];
  return (
    <Panel
      id="pair"
      title="Side by side"
      aside={
        <>
          <span data-r={pair.r} data-lag={pair.lag} id="pair-words">
            {words(pair)}; {count(pair.overlap, "group")} in common
          </span>
          {pair.lag !== 0 && (
            <button type="button" aria-pressed={moved} onClick={() => move(!moved)}>
              Move the second by the lag
            </button>
          )}
          <a class="button" href={link("explore", { m: [pair.x, pair.y] })}>
            Explore
          </a>
          <button
            type="button"
            class="icon"
            aria-label="Close"
            title="Close"
            onClick={() => change({ x: null, y: null })}
          >
            ✕
          </button>
        </>
      }
    >
      {error && <Notice bad>{error}</Notice>}
      {value &&
        [pair.x, pair.y].map((id, i) => (
          <div key={id} data-side={id} data-groups={value[i].times.length}>
            <h3>
              <i class="dot" style={{ background: `var(--line-${i + 1})` }} />{" "}
              <a href={link("metric", { id })}>{name(id)}</a>
              {i === 1 && shift !== 0 && (
                <small class="hint">
                  {" "}
                  moved by {shift > 0 ? "+" : "−"}
                  {duration(Math.abs(shift))}
                </small>
              )}
            </h3>
            {times.length > 0 && (
              <Chart
                lines={[
                  {
                    label: name(id),
                    color: i,
                    times: i ? value[i].times.map((t) => t + shift) : value[i].times,
                    values: value[i].values,
                    step: job.granularity,
                  },
                ]}
                from={from}
                to={to}
                height={150}
                unit={unitOf(metrics.get(id)?.name ?? "")}
                zone={zone}
                title={name(id)}
                small
              />
            )}
          </div>
        ))}
    </Panel>
  );
}

// useRedundant asks which metrics say the same, beside the pairs.
function useRedundant(job: Job): { threshold: number } & Loaded<Redundant> {
  const { params } = route.use();
  const wanted = Number(params.get("same") ?? "0.99"),
    threshold = wanted > 0 && wanted <= 1 ? wanted : 0.99;
  return { threshold, ...useLoad((signal) => redundantOf(job.id, threshold, signal), [job.id, threshold]) };
}

// Redundancy lists groups of metrics that say the same, and what dropping all but one of each saves.
function Redundancy({
  job,
  name,
  threshold,
  value,
  error,
}: { job: Job; name: (id: string) => string; threshold: number } & Loaded<Redundant>) {
  const bytes = (v: number) => show(v, "bytes", 3);
  return (
    <Panel
      id="redundant"
      title="Redundant metrics"
      aside={
        <label>
          that correlate by{" "}
          <select
            aria-label="Threshold"
            value={String(threshold)}
            onChange={(e) => change({ same: e.currentTarget.value }, true)}
          >
            {[...new Set([0.9, 0.95, 0.99, 0.999, 1, threshold])].sort().map((t) => (
              <option key={t} value={String(t)}>
                {t}
              </option>
            ))}
          </select>{" "}
          or more
        </label>
      }
    >
      {error && <Notice>{error}</Notice>}
      {value &&
        (value.groups.length === 0 ? (
          <p class="hint">
            {value.shared_trends_total === 0
              ? "None: no two metrics correlate so strongly."
              : `None: ${count(value.shared_trends_total, "pair")} as strong only share a trend, and change apart from each other.`}
          </p>
        ) : (
          <>
            <p id="saved" data-bytes={value.bytes} data-measures={value.measures_per_day}>
              Dropping{" "}
              {count(
                value.groups.reduce((n, g) => n + g.drop.length, 0),
                "metric",
              )}{" "}
              and keeping {whole(value.groups.length)} saves <b>{bytes(value.bytes)}</b> and{" "}
              <b>{count(Math.round(value.measures_per_day), "measure")}</b> a day; keeping only their coarsest
              granularity saves <b>{bytes(value.finer_bytes)}</b>.
              {value.bytes === 0 && " Their measures have not been written to archives yet: they are in some minutes."}
            </p>
            <SavingPlan value={value} />
            <Scroll>
              <table>
                <thead>
                  <tr>
                    <th scope="col">Keep</th>
                    <th scope="col">Drop</th>
                    <th scope="col" class="number">
                      r
                    </th>
                    <th scope="col" class="number">
                      Lag
                    </th>
                    <th scope="col" class="number">
                      Bytes
                    </th>
                    <th scope="col" class="number">
                      Measures a day
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {value.groups.slice(0, 50).map((g) =>
                    g.drop.slice(0, 20).map((d, i) => (
                      <tr key={d.metric} data-drop={d.metric} data-keep={g.keep} data-bytes={d.bytes} data-r={d.r}>
                        <td>
                          {i === 0 && (
                            <>
                              <a href={link("metric", { id: g.keep })}>{name(g.keep)}</a>
                              {g.drop.length > 1 && (
                                <small class="hint">
                                  {" "}
                                  for {count(g.drop.length, "other")}, {bytes(g.bytes)}
                                </small>
                              )}
                            </>
                          )}
                        </td>
                        <td>
                          <a
                            href={link("correlations", {
                              job: job.id,
                              x: g.keep,
                              y: d.metric,
                              same: String(threshold),
                            })}
                          >
                            {name(d.metric)}
                          </a>
                          {i === 19 && g.drop.length > 20 && <small class="hint"> and {g.drop.length - 20} more</small>}
                        </td>
                        <td class="number">{fixed(d.r)}</td>
                        <td class="number">
                          {d.lag ? (d.lag < 0 ? "−" : "") + duration(Math.abs(d.lag) * job.granularity) : "0"}
                        </td>
                        <td class="number">{bytes(d.bytes)}</td>
                        <td class="number">{show(d.measures_per_day)}</td>
                      </tr>
                    )),
                  )}
                </tbody>
              </table>
            </Scroll>
            {value.groups.length > 50 && <p class="hint">and {count(value.groups.length - 50, "more group")}</p>}
          </>
        ))}
    </Panel>
  );
}
