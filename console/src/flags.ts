import { APIError, read, session } from "./api";
import type { Mark } from "./chart";
import { hostOf, listSeries, type Series } from "./metrics";
import { quote, seriesPath } from "./paths";

export type Attributes = Record<string, unknown>;
export const hidden = ["metrics", "created_by_user_id", "created_by_project_id", "revision_start", "revision_end"];
export const words = (v: unknown) =>
  v === null || v === undefined || v === "" ? "–" : typeof v === "string" ? v : JSON.stringify(v);
const seconds = (text: unknown) => Date.parse(String(text)) / 1000;

// called is what people call a resource.
export const called = (now: Attributes) =>
  hostOf(
    Object.fromEntries(Object.entries(now).map(([n, v]) => [n, typeof v === "string" ? v : ""])),
    String(now.original_resource_id),
  );

// changesOf says what changed in a resource when, of its states, the earliest first.
export const changesOf = (states: Attributes[]): Mark[] =>
  states.slice(1).map((state, i) => ({
    time: seconds(state.revision_start),
    label:
      Object.keys(state)
        .filter((n) => !hidden.includes(n) && words(state[n]) !== words(states[i][n]))
        .map((n) => `${n}: ${words(states[i][n])} → ${words(state[n])}`)
        .join(", ") || "metrics",
  }));

let refused = ""; // a user who may not read the ledger

// readLedger reads who took measures out of metrics, or put others in. Other users than administrators see none.
export async function readLedger(asked: [string, string][], signal: AbortSignal): Promise<Mark[]> {
  const { user } = session.get();
  if (user === refused) return [];
  try {
    const all = await read<{ kind: string; user: string; at: string; start: string; reason: string }[]>(
      "/v1/ledger?" + new URLSearchParams([["limit", "1000"], ...asked]),
      undefined,
      signal,
    );
    return all.map((e) => ({
      time: Number.isFinite(seconds(e.start)) ? seconds(e.start) : seconds(e.at),
      label: `${e.kind} by ${e.user}: ${e.reason || "no reason"}`,
    }));
  } catch (error) {
    if ((error as APIError).status === 403) refused = user;
    return [];
  }
}

// Of more metrics than mostMetrics a chart has no flags; events that lie closer than a part of its time share one.
const mostMetrics = 100,
  mostFlags = 20;

// Flags are the events of a chart, and the marks that group them.
export interface Flags {
  events: Mark[];
  marks: Mark[];
}

// readFlags reads what happened to the metrics of charts: changes of their resources, and entries of the ledger. Each
// chart is given as its expressions.
export async function readFlags(charts: string[][], from: number, to: number, signal: AbortSignal): Promise<Flags[]> {
  const within = (m: Mark) => m.time >= from && m.time <= to,
    since: [string, string] = ["marker", firstID(from)]; // measures are deleted after they have come
  const [drawn, ledger] = await Promise.all([
    Promise.all(charts.map((queries) => seriesOf(queries, signal))),
    readLedger([since], signal),
  ]);
  const changes = await readChanges(drawn.flat(), from, signal),
    any = ledger.some(within);
  return Promise.all(
    drawn.map(async (series) => {
      const own = series.map(({ id }): [string, string] => ["metric", id]),
        resources = new Set(series.map((s) => s.resource)),
        entries = any && own.length ? await readLedger([since, ...own], signal) : [];
      const events = [...entries, ...[...resources].flatMap((id) => changes.get(id) ?? [])].filter(within);
      events.sort((a, b) => a.time - b.time);
      return { events, marks: grouped(events, (to - from) / mostFlags) };
    }),
  );
}

// seriesOf are the series that expressions read, if these are few.
async function seriesOf(queries: string[], signal: AbortSignal): Promise<Series[]> {
  const trees = await Promise.all(
    queries.map((query) => read("/api/v1/parse_query?" + new URLSearchParams({ query }), undefined, signal)),
  );
  const matches = [...new Set(selectorsIn(trees))];
  if (!matches.length) return [];
  const series = await listSeries(seriesPath(matches, mostMetrics + 1), signal);
  return series.length > mostMetrics ? [] : series;
}

// selectorsIn are the selectors of trees of expressions.
function selectorsIn(tree: unknown): string[] {
  if (tree === null || typeof tree !== "object") return [];
  const { matchers, ...rest } = tree as { matchers?: { name: string; type: string; value: string }[] };
  return matchers
    ? [`{${matchers.map((m) => quote(m.name) + m.type + quote(m.value)).join(",")}}`]
    : Object.values(rest).flatMap(selectorsIn);
}

// readChanges reads what changed in resources since a time, by their IDs.
async function readChanges(series: Series[], from: number, signal: AbortSignal): Promise<Map<string, Mark[]>> {
  const types = new Map<string, Set<string>>();
  for (const { resource, labels } of series)
    if (resource && labels.resource_type)
      types.set(labels.resource_type, (types.get(labels.resource_type) ?? new Set()).add(resource));
  const states = await Promise.all(
    [...types].map(([type, ids]) =>
      read<Attributes[]>(
        `/v1/search/resource/${encodeURIComponent(type)}?history=true&limit=1000&sort=revision_start:desc`,
        {
          and: [
            { in: { id: [...ids] } },
            { or: [{ "=": { revision_end: null } }, { ">=": { revision_end: new Date(from * 1000).toISOString() } }] },
          ],
        },
        signal,
      ),
    ),
  );
  const histories = new Map<string, Attributes[]>();
  for (const state of states.flat().reverse()) {
    const id = String(state.id);
    histories.set(id, [...(histories.get(id) ?? []), state]);
  }
  return new Map(
    [...histories].map(([id, all]) => [
      id,
      changesOf(all).map((m) => ({ ...m, label: `${called(all[all.length - 1])}: ${m.label}` })),
    ]),
  );
}

// grouped has one mark for the events of a span of time.
function grouped(events: Mark[], span: number): Mark[] {
  const groups: Mark[][] = [];
  for (const e of events) {
    const last = groups[groups.length - 1];
    if (last && e.time - last[0].time < span) last.push(e);
    else groups.push([e]);
  }
  return groups.map(([first, ...more]) => ({
    time: first.time,
    label: first.label + (more.length ? ` and ${more.length} more` : ""),
  }));
}

// firstID is the first ID that is made at a time, as UUIDs of version 7 are.
function firstID(time: number): string {
  const ms = Math.max(0, Math.floor(time * 1000))
    .toString(16)
    .padStart(12, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`;
}
