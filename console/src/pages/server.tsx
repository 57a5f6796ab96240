import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { read, request } from "../api";
import { Chart } from "../chart";
import { count, duration, show, whole } from "../format";
import { parseText, total, type Sample } from "../metrics_text";
import { Scroll } from "../scroll";
import { Figure } from "../figure";
import { Notice, Panel, useLoad } from "../widgets";
import { figuresPath, statusPath } from "../paths";
import { zoneOf } from "../range";
import { link, route } from "../router";
import { BackupsTab, ChangesTab, ProjectsTab, QueriesTab, SeriesTab, SilentTab, UnreadTab } from "./server_tables";

interface Member {
  id: string;
  address: string;
  roles: string[];
  figures?: {
    uptime: number;
    accepted: number;
    processed: number;
    version: string;
    memory: number;
    memory_limit: number;
    device: keyof typeof devices;
    pair?: string;
  };
}

interface Status {
  storage: { summary: { metrics: number; measures: number } };
  cluster?: {
    members: Member[];
    claims: { name: string; epoch: number; member: string }[];
    sacks: { sack: number; measures: number; seconds: number }[];
    silent?: string[];
    damaged: { name: string; fault: keyof typeof faults; reason: string; since: string }[];
  };
}

const faults = {
  damaged: "is damaged",
  missing: "is missing",
  later: "was written by a later version",
  unopened: "could not be opened",
};
const devices = { none: "none", up: "GPU", down: "GPU, out of use" };

interface Reading {
  time: number;
  samples: Sample[];
}

const interval = 2,
  mostReadings = 150;

const tabs: Record<string, { title: string; Tab: () => VNode | null }> = {
  state: { title: "State", Tab: State },
  series: { title: "Series", Tab: SeriesTab },
  projects: { title: "Projects", Tab: ProjectsTab },
  queries: { title: "Queries", Tab: QueriesTab },
  unread: { title: "Never read", Tab: UnreadTab },
  silent: { title: "Silent", Tab: SilentTab },
  changes: { title: "Changes", Tab: ChangesTab },
  backups: { title: "Backups", Tab: BackupsTab },
};

// Server has sub-pages, one of which the address names.
export function Server() {
  const named = route.use().params.get("tab") ?? "state",
    { Tab } = tabs[named] ?? tabs.state;
  return (
    <>
      <nav class="tabs" aria-label="Of the server">
        {Object.entries(tabs).map(([name, { title, Tab: its }]) => (
          <a
            key={name}
            href={link("server", name === "state" ? {} : { tab: name })}
            aria-current={its === Tab ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <Tab />
    </>
  );
}

// State shows that of the process that answers, from /metrics, and of the cluster, from /v1/status.
function State() {
  const status = useLoad((signal) => read<Status>(statusPath, undefined, signal), [], interval);
  const figures = useLoad(
    async (signal) => ({
      time: Date.now() / 1000,
      samples: parseText(await (await request("GET", figuresPath, undefined, signal)).text()),
    }),
    [],
    interval,
  );
  const history = useRef<Reading[]>([]);
  const answers = useRef<Member[][]>([]);
  const [, tick] = useState(0);
  useEffect(() => {
    if (!figures.value) return;
    history.current = [...history.current, figures.value].slice(-mostReadings);
    tick((n) => n + 1);
  }, [figures.value]);
  useEffect(() => {
    if (!status.value?.cluster) return;
    answers.current = [...answers.current, status.value.cluster.members].slice(-1 - rateReadings);
    tick((n) => n + 1);
  }, [status.value]);
  const now = figures.value?.samples,
    cluster = status.value?.cluster;
  const zone = zoneOf();
  return (
    <>
      {figures.error && <Notice bad>{figures.error}</Notice>}
      {status.error && <Notice>{status.error}: who holds what is shown to administrators only.</Notice>}
      {cluster?.damaged.map((d) => (
        <Notice bad key={d.name}>
          {d.name} {faults[d.fault] ?? faults.damaged} (since {d.since}): {d.reason}
        </Notice>
      ))}
      {cluster?.members.map(
        (m) =>
          m.figures?.pair && (
            <Notice key={m.id}>
              Two senders push the same series, such as {m.figures.pair}: it counts double. --replica-labels makes one
              of them count.
            </Notice>
          ),
      )}
      {cluster && cluster.members.length > 1 && (
        <Panel
          title="The cluster"
          aside={
            <span>
              Processes: {cluster.members.length}
              {cluster.silent?.length ? ", silent: " + cluster.silent.join(", ") : ""}
            </span>
          }
        >
          <dl class="figures">
            <Figure
              id="all-accepted"
              name="Measures accepted"
              value={perSecond(sum(cluster.members.map((m) => memberRate(answers.current, m.id, "accepted"))))}
              about={show(sum(cluster.members.map((m) => m.figures?.accepted ?? null)), "", 12) + " in all"}
            />
            <Figure
              id="all-processed"
              name="Measures processed"
              value={perSecond(sum(cluster.members.map((m) => memberRate(answers.current, m.id, "processed"))))}
              about={show(sum(cluster.members.map((m) => m.figures?.processed ?? null)), "", 12) + " in all"}
            />
            <Figure
              id="all-backlog"
              name="Backlog"
              value={show(cluster.sacks.reduce((n, s) => n + s.measures, 0))}
              about={"lag " + show(Math.max(0, ...cluster.sacks.map((s) => s.seconds)), "seconds", 3)}
            />
          </dl>
        </Panel>
      )}
      {now && (
        <>
          <Panel
            title="This process"
            aside={
              <span>
                version {now.find((s) => s.name === "gnocco_build_info")?.labels.version}, up{" "}
                {duration(Math.round(Date.now() / 1000 - (total(now, "process_start_time_seconds") ?? 0)))}
              </span>
            }
          >
            <dl class="figures">
              <Figure
                id="accepted"
                name="Measures accepted"
                value={perSecond(rate(history.current, "gnocco_incoming_measures_total"))}
                about={show(total(now, "gnocco_incoming_measures_total"), "", 12) + " in all"}
              />
              <Figure
                id="processed"
                name="Measures processed"
                value={perSecond(rate(history.current, "gnocco_metricd_measures_processed_total"))}
              />
              <Figure
                id="backlog"
                name="Backlog"
                value={show(total(now, "gnocco_incoming_backlog_measures"))}
                about={"lag " + show(Math.max(0, total(now, "gnocco_incoming_backlog_age_seconds") ?? 0), "seconds", 3)}
              />
              <Figure id="metrics" name="Metrics" value={whole(total(now, "gnocco_index_metrics"))} />
              <Figure
                id="requests"
                name="Requests"
                value={perSecond(rate(history.current, "gnocco_http_requests_total"))}
                about={show(total(now, "gnocco_http_connections")) + " connections"}
              />
              <Figure
                id="cpu"
                name="Processor"
                value={percent(rate(history.current, "process_cpu_seconds_total"))}
                about="of one core"
              />
              <Figure
                id="dropped"
                name="Measures too old"
                value={show(total(now, "gnocco_metricd_measures_dropped_total", { reason: "too_old" }), "", 12)}
                about="since the start"
              />
              <Figure id="device" name="Device" value={device(now)} />
            </dl>
          </Panel>
          <div class="two">
            <Panel title="Measures a second">
              <Rates history={history.current} zone={zone} />
            </Panel>
            <Panel title="Memory and disk">
              <Space samples={now} />
            </Panel>
          </div>
          <Panel
            title="Backlog by sack"
            aside={<span>{count(sacks(now).length, "sack")} held here; a full cell is the longest backlog</span>}
          >
            <Strip samples={now} />
          </Panel>
        </>
      )}
      {cluster && (
        <Panel
          title="Members"
          aside={cluster.silent?.length ? <span>silent: {cluster.silent.join(", ")}</span> : undefined}
        >
          <Scroll>
            <table id="members">
              <thead>
                <tr>
                  <th scope="col">Member</th>
                  <th scope="col">Address</th>
                  <th scope="col">Roles</th>
                  <th scope="col" class="number">
                    Accepted
                  </th>
                  <th scope="col" class="number">
                    Processed
                  </th>
                  <th scope="col">Memory</th>
                  <th scope="col">Device</th>
                  <th scope="col">Version</th>
                  <th scope="col">Holds</th>
                </tr>
              </thead>
              <tbody>
                {cluster.members.map((m) => (
                  <tr key={m.id} data-member={m.id}>
                    <td class="mono">{m.id}</td>
                    <td class="mono">{m.address}</td>
                    <td>{m.roles.join(", ")}</td>
                    <td class="number" data-figure="accepted">
                      {perSecond(memberRate(answers.current, m.id, "accepted"))}
                    </td>
                    <td class="number" data-figure="processed">
                      {perSecond(memberRate(answers.current, m.id, "processed"))}
                    </td>
                    <td data-figure="memory">
                      {m.figures
                        ? show(m.figures.memory, "bytes", 3) + " of " + show(m.figures.memory_limit, "bytes", 3)
                        : "–"}
                    </td>
                    <td data-figure="device">{m.figures ? devices[m.figures.device] : "–"}</td>
                    <td data-figure="version">{m.figures?.version ?? "–"}</td>
                    <td>{holds(cluster.claims.filter((c) => c.member === m.id).map((c) => c.name))}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </Panel>
      )}
    </>
  );
}

const rateReadings = 5; // that a rate looks back

// memberRate is by how much a count of a member grew a second, by its own clock.
function memberRate(answers: Member[][], id: string, name: "accepted" | "processed"): number | null {
  const of = answers.map((members) => members.find((m) => m.id === id)?.figures).filter((f) => f !== undefined);
  const first = of[0],
    last = of.at(-1);
  return first && last && last.uptime > first.uptime ? (last[name] - first[name]) / (last.uptime - first.uptime) : null;
}

// sum adds up what is known, null if nothing is.
function sum(values: (number | null)[]): number | null {
  const known = values.filter((v): v is number => v !== null);
  return known.length ? known.reduce((a, b) => a + b, 0) : null;
}

// rate is by how much a counter grew a second, over the last readings.
function rate(history: Reading[], name: string, behind = rateReadings): number | null {
  const last = history.at(-1),
    first = history.at(-1 - behind) ?? history[0];
  if (!last || last === first) return null;
  const a = total(first.samples, name),
    b = total(last.samples, name);
  return a === null || b === null || b < a ? null : (b - a) / (last.time - first.time);
}

const perSecond = (v: number | null) => (v === null ? "–" : show(v, "", 3) + " /s");
const percent = (v: number | null) => (v === null ? "–" : show(100 * v, "percent", 3));

function device(samples: Sample[]): string {
  const gpu = samples.filter((s) => s.name.startsWith("gnocco_gpu_"));
  if (!gpu.length) return "none";
  return (total(samples, "gnocco_gpu_up") ?? 1) > 0 ? "GPU" : "GPU, out of use";
}

function Rates({ history, zone }: { history: Reading[]; zone: string }) {
  const draw = (label: string, name: string, color: number) => {
    const times: number[] = [],
      values: (number | null)[] = [];
    for (let i = 1; i < history.length; i++) {
      times.push(history[i].time);
      values.push(rate(history.slice(0, i + 1), name, 1));
    }
    return { label, color, times, values, step: interval * 2 };
  };
  const to = history.at(-1)?.time ?? Date.now() / 1000;
  return (
    <Chart
      lines={[
        draw("accepted", "gnocco_incoming_measures_total", 0),
        draw("processed", "gnocco_metricd_measures_processed_total", 1),
      ]}
      from={to - interval * mostReadings}
      to={to}
      height={180}
      unit=""
      zone={zone}
      title="Measures a second"
    />
  );
}

const stores = ["index", "incoming", "sacks"];

function Space({ samples }: { samples: Sample[] }) {
  const memory = total(samples, "process_resident_memory_bytes") ?? 0,
    limit = total(samples, "go_gc_gomemlimit_bytes") ?? 0;
  const used = total(samples, "gnocco_memory_used_bytes") ?? 0,
    budget = total(samples, "gnocco_memory_budget_bytes") ?? 0;
  const disk = stores.map((store) => [store, total(samples, "gnocco_store_disk_bytes", { store }) ?? 0] as const);
  const most = Math.max(1, ...disk.map(([, v]) => v));
  return (
    <>
      <Meter id="memory" name="Memory of the process" value={memory} of={limit < 1e18 ? limit : 0} />
      <Meter id="budget" name="Held by requests" value={used} of={budget} />
      {disk.map(([store, value]) => (
        <Meter key={store} id={"disk-" + store} name={"Disk: " + store} value={value} share={value / most} />
      ))}
    </>
  );
}

function Meter({
  id,
  name,
  value,
  of,
  share,
}: {
  id: string;
  name: string;
  value: number;
  of?: number;
  share?: number;
}) {
  return (
    <div id={id} data-value={value}>
      <div class="aside">
        <span>{name}</span>
        <b style={{ marginLeft: "auto" }}>
          {show(value, "bytes", 3)}
          {of ? " of " + show(of, "bytes", 3) : ""}
        </b>
      </div>
      <div class="meter">
        <i style={{ width: 100 * Math.min(1, share ?? (of ? value / of : 0)) + "%" }} />
      </div>
    </div>
  );
}

const sacks = (samples: Sample[]) =>
  samples.filter((s) => s.name === "gnocco_sack_backlog_measures").sort((a, b) => +a.labels.sack - +b.labels.sack);

function Strip({ samples }: { samples: Sample[] }) {
  const all = sacks(samples),
    most = Math.max(1, ...all.map((s) => s.value));
  return (
    <div
      class="strip"
      role="img"
      aria-label={`Backlog of ${count(all.length, "sack")}, ${show(Math.max(0, ...all.map((s) => s.value)))} at most`}
    >
      {all.map((s) => (
        <i
          key={s.labels.sack}
          data-sack={s.labels.sack}
          data-value={s.value}
          title={`sack ${s.labels.sack}: ${count(s.value, "measure")} in wait, ${show(total(samples, "gnocco_sack_backlog_age_seconds", { sack: s.labels.sack }), "seconds", 3)}`}
          style={{
            background: `color-mix(in srgb, var(--warm) ${Math.round((100 * s.value) / most)}%, var(--accent-soft))`,
          }}
        />
      ))}
    </div>
  );
}

// holds says what a member holds: the sacks as ranges, the rest by name.
function holds(names: string[]): string {
  const numbers = names
    .filter((n) => n.startsWith("sacks/"))
    .map((n) => +n.slice(6))
    .sort((a, b) => a - b);
  const ranges: string[] = [];
  for (let i = 0; i < numbers.length; i++) {
    let k = i;
    while (numbers[k + 1] === numbers[k] + 1) k++;
    ranges.push(k > i ? `${numbers[i]}–${numbers[k]}` : `${numbers[i]}`);
    i = k;
  }
  const rest = names
    .filter((n) => !n.startsWith("sacks/"))
    .map((n) => (n.startsWith("incoming/") ? "an incoming store" : "the " + n));
  return (
    [
      ...new Set(rest),
      ...(ranges.length ? [(numbers.length === 1 ? "sack " : "sacks ") + ranges.join(", ")] : []),
    ].join(", ") || "nothing"
  );
}
