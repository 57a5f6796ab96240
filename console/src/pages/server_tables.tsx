import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { read, request, type APIError } from "../api";
import { breakable } from "../finder";
import { count, duration, moment, short, show, whole } from "../format";
import { listSeries, type Facet } from "../metrics";
import { ofResourcesPath, quote } from "../paths";
import { zoneOf } from "../range";
import { Rebuilds } from "../rebuilds";
import { change, link, route } from "../router";
import { Scroll } from "../scroll";
import { Notice, Panel, useLoad } from "../widgets";

// Table is a panel of rows, or says that there are none.
function Table({
  title,
  id,
  columns,
  rows,
  empty,
  aside,
}: {
  title: string;
  id: string;
  columns: string[]; // those of numbers begin with #
  rows?: ComponentChildren[][];
  empty: string;
  aside?: ComponentChildren;
}) {
  return (
    <Panel title={title} id={id} aside={aside && <span>{aside}</span>}>
      {rows && !rows.length && <p class="hint">{empty}</p>}
      {rows && rows.length > 0 && (
        <Scroll>
          <table class={columns.length > 3 ? "stack" : undefined}>
            <thead>
              <tr>
                {columns.map((c) => (
                  <th scope="col" key={c} class={c.startsWith("#") ? "number" : undefined}>
                    {c.replace("#", "")}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((cells, i) => (
                <tr key={i}>
                  {cells.map((cell, k) => (
                    <td
                      key={k}
                      class={columns[k].startsWith("#") ? "number" : undefined}
                      data-label={columns[k].replace("#", "")}
                    >
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

const time = (seconds: number) => (seconds < 1 ? show(1000 * seconds, "", 3) + " ms" : show(seconds, "seconds", 4));

// useProjects returns what projects are called: as the resources' attribute project_name says, else by their IDs.
function useProjects(ids: string[]) {
  const { value: names } = useLoad(
    async (signal) => {
      const nameIn = async (match: Record<string, string>) =>
        (
          await read<{ data: { labels: Facet[] } }>(
            "/api/v1/series_count?" + new URLSearchParams({ ...match, label: "project_name", limit: "1" }),
            undefined,
            signal,
          )
        ).data.labels[0]?.counts[0]?.name;
      if (!ids.length || !(await nameIn({}))) return new Map<string, string | undefined>();
      return new Map(
        await Promise.all(
          ids.slice(0, 100).map(async (id) => [id, await nameIn({ "match[]": `{project_id=${quote(id)}}` })] as const),
        ),
      );
    },
    [ids.join("\n")],
  );
  return (id: string) => <span title={id}>{names?.get(id) || short(id)}</span>;
}

// SeriesTab is how many series there are, by label, name and project.
export function SeriesTab() {
  const { value, error } = useLoad(async (signal) => {
    const ask = async (query: Record<string, string>) =>
      (
        await read<{ data: { total: number; labels: Facet[] } }>(
          "/api/v1/series_count?" + new URLSearchParams(query),
          undefined,
          signal,
        )
      ).data;
    const week = String(3600 * Math.floor(Date.now() / 3600e3 - 7 * 24));
    const [labels, names, projects, grown] = await Promise.all([
      ask({ limit: "3" }),
      ask({ limit: "30", label: "__name__" }),
      ask({ limit: "30", label: "project_id" }),
      ask({ limit: "30", label: "__name__", since: week }),
    ]);
    const [named, inProject, made] = [names, projects, grown].map((c) => c.labels[0] as Facet | undefined);
    return { total: labels.total, labels: labels.labels, names: named, projects: inProject, grown: made };
  }, []);
  const project = useProjects(value?.projects?.counts.map((c) => c.name) ?? []);
  if (!value) return error ? <Notice bad>{error}</Notice> : <Notice>Counting …</Notice>;
  const share = (n: number) => show((100 * n) / Math.max(1, value.total), "percent", 3);
  const counted = (
    facet: Facet | undefined,
    view: (name: string) => Record<string, string>,
    called: (name: string) => ComponentChildren = breakable,
  ) =>
    (facet?.counts ?? []).map(({ name, value }) => [
      <a href={link("explore", view(name))}>{called(name)}</a>,
      whole(value),
      share(value),
    ]);
  return (
    <>
      <div class="two">
        <Table
          title="Names"
          id="names"
          columns={["Name", "#Series", "#Share"]}
          aside={value.names && count(value.names.values, "name")}
          empty="No names."
          rows={counted(value.names, (name) => ({ q: `{__name__=${quote(name)}}` }))}
        />
        <Table
          title="Grown most in 7 days"
          id="grown"
          columns={["Name", "#New series", "#Of all"]}
          empty="No series is so new."
          rows={counted(value.grown, (name) => ({ q: `{__name__=${quote(name)}}` }))}
        />
        <Table
          title="Projects"
          id="projects"
          columns={["Project", "#Series", "#Share"]}
          empty="No resource has a project."
          rows={counted(value.projects, (name) => ({ l: "project_id=" + name }), project)}
        />
      </div>
      <Table
        title="Labels"
        id="labels"
        columns={["Label", "#Values", "Most series"]}
        aside={`${count(value.total, "series")}, ${count(value.labels.length, "label")}`}
        empty="No series."
        rows={[...value.labels]
          .sort((a, b) => b.values - a.values)
          .slice(0, 20)
          .map((l) => [
            l.name,
            whole(l.values),
            l.counts.map((c) => `${l.name === "project_id" ? short(c.name) : c.name} (${whole(c.value)})`).join(", "),
          ])}
      />
    </>
  );
}

interface Usage {
  project: string;
  quota: Record<"series" | "measures_per_second" | "requests_per_second", number>;
  own_quota: unknown;
  series: number;
  measures_per_second: number;
  requests_per_second: number;
}

// ProjectsTab is what projects use of their quotas: of all for administrators, of their own for others.
export function ProjectsTab() {
  const [own, setOwn] = useState(false);
  const { value, error } = useLoad(
    async (signal) => {
      if (!own)
        try {
          return await read<Usage[]>("/v1/quotas", undefined, signal);
        } catch (e) {
          if ((e as APIError).status !== 403) throw e;
          setOwn(true);
        }
      return [await read<Usage>("/v1/usage", undefined, signal)];
    },
    [own],
    10,
  );
  const sorted = value && [...value].sort((a, b) => b.series - a.series),
    project = useProjects(sorted?.map((u) => u.project).filter(Boolean) ?? []);
  const of = (used: number, most: number) =>
    most < 0 ? whole(used) : `${whole(used)} of ${whole(most)} (${show((100 * used) / most, "percent", 3)})`;
  return (
    <>
      {error && <Notice bad>{error}</Notice>}
      <Table
        title={own ? "Your project" : "Quotas and usage"}
        id="quotas"
        columns={["Project", "#Series", "#Measures/s", "#Requests/s", "Quota"]}
        aside="measures and requests of the last 10 s"
        empty="No project has series or sends measures."
        rows={sorted?.map((u) => [
          u.project ? project(u.project) : "(none)",
          of(u.series, u.quota.series),
          of(u.measures_per_second, u.quota.measures_per_second),
          of(u.requests_per_second, u.quota.requests_per_second),
          u.own_quota ? "its own" : "the default",
        ])}
      />
    </>
  );
}

interface Running {
  id: string;
  user: string;
  query: string;
  seconds: number;
  waiting: boolean;
  metrics_read: number;
  groups_read: number;
}
interface Cost {
  route: string;
  query: string;
  count: number;
  seconds: number;
  metrics_read: number;
  groups_read: number;
}

// QueriesTab is the queries that run, and those that took most time.
export function QueriesTab() {
  const [failed, fail] = useState("");
  const running = useLoad((signal) => read<Running[]>("/v1/queries", undefined, signal), [], 2);
  const costs = useLoad(
    (signal) => read<{ since: string; queries: Cost[] }>("/v1/queries/costs?limit=50", undefined, signal),
    [],
    10,
  );
  const end = (id: string) =>
    void request("DELETE", "/v1/queries/" + encodeURIComponent(id)).then(
      () => fail(""),
      (e: Error) => fail(e.message),
    );
  return (
    <>
      {[failed, running.error, costs.error].map((text) => text && <Notice bad>{text}</Notice>)}
      <Table
        title="Queries that run"
        id="running"
        columns={["Query", "User", "#Seconds", "#Metrics", "#Groups", ""]}
        empty="None runs now."
        rows={running.value?.map((q) => [
          <code>{q.query}</code>,
          q.user,
          show(q.seconds, "", 3) + (q.waiting ? ", waits" : ""),
          whole(q.metrics_read),
          whole(q.groups_read),
          <button type="button" onClick={() => end(q.id)}>
            End
          </button>,
        ])}
      />
      <Table
        title="Queries that took most time"
        id="costs"
        columns={["Query", "#Times", "#Time in all", "#Mean", "#Metrics", "#Groups"]}
        aside={costs.value && "since " + moment(Date.parse(costs.value.since) / 1000, zoneOf())}
        empty="None was counted."
        rows={costs.value?.queries.map((q) => [
          <>
            <code title={q.query}>{q.query}</code>
            <span class="hint">{q.route}</span>
          </>,
          whole(q.count),
          time(q.seconds),
          time(q.seconds / Math.max(1, q.count)),
          whole(q.metrics_read),
          whole(q.groups_read),
        ])}
      />
    </>
  );
}

interface Unread {
  since: string;
  metrics: number;
  unread: number;
  list: { id: string; name: string; resource_id: string | null; archive_policy_name: string }[];
}

// UnreadTab is the metrics that no query has read.
export function UnreadTab() {
  const { value, error } = useLoad(
    (signal) => read<Unread>("/v1/queries/unread?limit=1000", undefined, signal),
    [],
    30,
  );
  return (
    <>
      {error && <Notice bad>{error}</Notice>}
      <Table
        title="Metrics that no query has read"
        id="unread"
        columns={["Name", "#Metrics", "Archive policy"]}
        aside={
          value &&
          `${whole(value.unread)} of ${whole(value.metrics)} since ${moment(Date.parse(value.since) / 1000, zoneOf())}`
        }
        empty="All were read."
        rows={value && byName(value.list)}
      />
      {value && value.unread > value.list.length && (
        <p class="hint">The first {whole(value.list.length)} are counted here.</p>
      )}
    </>
  );
}

// byName has a row for each name and archive policy, those of most metrics first.
function byName(list: Unread["list"]) {
  const all = new Map<string, Unread["list"]>();
  for (const m of list) {
    const key = JSON.stringify([m.name, m.archive_policy_name]);
    all.set(key, [...(all.get(key) ?? []), m]);
  }
  return [...all.values()]
    .sort((a, b) => b.length - a.length)
    .map(([m, ...others]) => [
      <a href={others.length ? link("explore", { find: m.name }) : link("metric", { id: m.id })}>
        {breakable(m.name || m.id)}
      </a>,
      whole(1 + others.length),
      <a href={link("policies", { policy: m.archive_policy_name })}>{m.archive_policy_name}</a>,
    ]);
}

interface Sender {
  resource_id: string | null;
  original_resource_id?: string;
  type?: string;
  job?: string;
  instance?: string;
  metrics: number;
  newest: string;
}

// SilentTab is the senders that no longer send.
export function SilentTab() {
  const { params } = route.use(),
    age = params.get("for") ?? "3600";
  const { value, error } = useLoad(
    async (signal) => {
      const query = new URLSearchParams({ for: age, limit: "200" });
      const silent = await read<{ senders: number; silent: number; list: Sender[] }>(
        "/v1/silent?" + query,
        undefined,
        signal,
      );
      const ids = silent.list.flatMap((s) => s.resource_id ?? []);
      const series = ids.length ? await listSeries(ofResourcesPath(ids), signal) : [];
      return { ...silent, names: new Map(series.map((s) => [s.resource, s.place[""]])) };
    },
    [age],
    30,
  );
  const labels = (s: Sender) =>
    [
      ["job", s.job],
      ["instance", s.instance],
    ].flatMap(([n, v]) => (v ? [n + "=" + v] : []));
  return (
    <>
      {error && <Notice bad>{error}</Notice>}
      <Table
        title="Senders that no longer send"
        id="silent"
        columns={["Sender", "Type", "Newest measure", "#Metrics"]}
        aside={
          <>
            {value && `${whole(value.silent)} of ${whole(value.senders)} have sent nothing for `}
            <select
              aria-label="For how long"
              value={age}
              onChange={(e) => change({ for: e.currentTarget.value === "3600" ? null : e.currentTarget.value })}
            >
              {[600, 3600, 86400, 604800].map((s) => (
                <option key={s} value={String(s)}>
                  {duration(s)}
                </option>
              ))}
            </select>
          </>
        }
        empty="All send."
        rows={value?.list.map((s) => [
          <a href={link("explore", { l: s.resource_id ? ["resource_id=" + s.resource_id] : labels(s) })}>
            {s.resource_id
              ? (value.names.get(s.resource_id) ?? s.original_resource_id ?? s.resource_id)
              : labels(s).join(", ") || "series without job and instance"}
          </a>,
          s.type ?? "pushed",
          moment(Date.parse(s.newest) / 1000, zoneOf()),
          whole(s.metrics),
        ])}
      />
      {value && value.silent > value.list.length && (
        <p class="hint">The {whole(value.list.length)} that stopped last are listed.</p>
      )}
    </>
  );
}

interface Entry {
  at: string;
  user: string;
  kind: string;
  selector: string;
  start: string;
  stop: string | null;
  reason: string;
  state: string;
  metrics: number;
  measures: number;
}

// ChangesTab is rebuilds, and what was deleted or corrected.
export function ChangesTab() {
  const { value, error } = useLoad((signal) => read<Entry[]>("/v1/ledger", undefined, signal), [], 10);
  return (
    <>
      {error && <Notice bad>{error}</Notice>}
      <Rebuilds started={0} />
      <Table
        title="Ledger"
        id="ledger"
        columns={["At", "User", "What", "Of", "From", "To", "#Metrics", "Reason", "State"]}
        aside="measures that were deleted or corrected"
        empty="No measures were deleted or corrected."
        rows={
          value &&
          [...value]
            .reverse()
            .map((e) => [
              moment(Date.parse(e.at) / 1000, zoneOf()),
              e.user,
              e.kind,
              <code>{e.selector}</code>,
              e.start,
              e.stop ?? "the end",
              whole(e.metrics),
              e.reason,
              e.state,
            ])
        }
      />
    </>
  );
}

interface Backup {
  begun_at: string;
  ended_at: string;
  user: string;
  to: string;
  files: number;
  bytes: number;
  new_bytes: number;
  incremental: boolean;
  error: string;
}

// BackupsTab is the last backups, and how old the last one is that did not fail.
export function BackupsTab() {
  const { value, error } = useLoad((signal) => read<Backup[]>("/v1/backups", undefined, signal), [], 30);
  const seconds = (text: string) => Date.parse(text) / 1000;
  const last = value?.find((b) => !b.error);
  return (
    <>
      {error && <Notice bad>{error}</Notice>}
      <Table
        title="Backups"
        id="backups"
        columns={["Begun", "#Took", "User", "To", "#Files", "#Size", "#New", "State"]}
        aside={
          value &&
          (last
            ? `the last one is ${duration(Math.max(0, Math.round(Date.now() / 1000 - seconds(last.ended_at))))} old`
            : "there is none")
        }
        empty="No backup was made: gnocco backup makes one."
        rows={value?.map((b) => [
          moment(seconds(b.begun_at), zoneOf()),
          time(seconds(b.ended_at) - seconds(b.begun_at)),
          b.user,
          <code>{b.to}</code>,
          whole(b.files),
          show(b.bytes, "bytes", 3),
          show(b.new_bytes, "bytes", 3),
          b.error || (b.incremental ? "incremental" : "full"),
        ])}
      />
    </>
  );
}
