import { APIError, read, request } from "./api";
import { listSeries, titles } from "./metrics";
import { chosenPath, jobPath as path, jobsPath, pushedPath } from "./paths";

export interface Job {
  id: string;
  state: "queued" | "running" | "done" | "failed";
  error?: string;
  progress: number;
  aggregation: string;
  granularity: number;
  started_at: string;
  start: string | null;
  stop: string | null;
  max_lag: number;
  groups: number;
  metrics: number;
  constant: string[];
  total: number;
  truncated: boolean;
}
export interface Named {
  id: string;
  name: string | null;
  resource_id: string | null;
}
export interface Pair {
  x: string;
  y: string;
  r: number;
  lag: number;
  overlap: number;
}
interface Saving {
  bytes: number;
  finer_bytes: number;
  measures_per_day: number;
}
export interface Redundant extends Saving {
  threshold: number;
  shared_trends_total: number;
  groups: ({
    keep: string;
    keep_name: string;
    drop: ({ metric: string; name: string; r: number; lag: number } & Saving)[];
  } & Saving)[];
}

export const listJobs = (signal: AbortSignal) => read<Job[]>(jobsPath, undefined, signal);
export const removeJob = (id: string) => request("DELETE", path(id));
export const startJob = (body: unknown) => read<Job>("/v1/correlations?limit=1", body);
export const jobOf = (id: string, signal: AbortSignal) => read<Job>(path(id) + "?limit=1", undefined, signal);

const mostNamed = 1000, // pushed series
  atOnce = 100;

// metricsOf names the metrics of a job: pushed series by their labels.
export async function metricsOf(id: string, signal: AbortSignal): Promise<Named[]> {
  const all = await read<Named[]>(path(id) + "/metrics", undefined, signal);
  const pushed = all.filter((m) => !m.resource_id).slice(0, mostNamed);
  const parts = [];
  for (let i = 0; i < pushed.length; i += atOnce)
    parts.push(listSeries(chosenPath(pushed.slice(i, i + atOnce).map((m) => m.id)), signal));
  const series = (await Promise.all(parts)).flat(),
    names = titles(series),
    known = new Map(series.map((s, i) => [s.id, names[i]]));
  return all.map((m) => ({ ...m, name: known.get(m.id) ?? m.name }));
}

// pushedCalled returns the IDs of pushed series by the pattern of their names.
export const pushedCalled = async (pattern: string) => (await listSeries(pushedPath(pattern))).map((s) => s.id);
export const redundantOf = (id: string, threshold: number, signal: AbortSignal) =>
  read<Redundant>(`${path(id)}/redundant?threshold=${threshold}`, undefined, signal);
export const gone = (e: unknown) => e instanceof APIError && e.status === 404;

// pairsOf reads all pairs of a job, the strongest first.
export async function pairsOf(id: string, signal: AbortSignal): Promise<Pair[]> {
  const text = await (await request("GET", path(id) + "?format=csv", undefined, signal)).text();
  return text
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => {
      const [x, y, r, lag, overlap] = line.split(",");
      return { x, y, r: Number(r), lag: Number(lag), overlap: Number(overlap) };
    });
}

// Matrix is the metrics that are drawn, those side by side that correlate, and the pair of each two.
export interface Matrix {
  order: string[];
  pairs: Map<string, Pair>;
  left: number;
}
export const mostDrawn = 200;

export function pairOf(matrix: Matrix, a: string, b: string): Pair | undefined {
  const there = matrix.pairs.get(a + b);
  if (there) return there;
  const back = matrix.pairs.get(b + a);
  return back && { x: a, y: b, r: back.r, lag: -back.lag || 0, overlap: back.overlap };
}

// arrange clusters metrics by the mean of their pairs' strengths, and puts clusters side by side so that the ends that
// touch are alike. Where there are too many, those of the strongest pairs are drawn.
export function arrange(pairs: Pair[]): Matrix {
  const numbers = new Map<string, number>(),
    ids: string[] = [];
  const left = new Set<string>();
  for (const { x, y } of pairs)
    for (const id of [x, y])
      if (!numbers.has(id)) {
        if (ids.length < mostDrawn) {
          numbers.set(id, ids.length);
          ids.push(id);
        } else left.add(id);
      }
  const n = ids.length,
    strength = Array.from({ length: n }, () => new Float64Array(n)),
    byPair = new Map<string, Pair>();
  for (const pair of pairs) {
    const i = numbers.get(pair.x),
      k = numbers.get(pair.y);
    if (i === undefined || k === undefined) continue;
    byPair.set(pair.x + pair.y, pair);
    strength[i][k] = strength[k][i] = Math.abs(pair.r) || 0;
  }
  let clusters = ids.map((_, i) => ({ row: i, members: [i] }));
  const mean = strength.map((row) => row.slice());
  while (clusters.length > 1) {
    let best = -1,
      a = 0,
      b = 1;
    for (let i = 0; i < clusters.length; i++)
      for (let k = i + 1; k < clusters.length; k++) {
        const s = mean[clusters[i].row][clusters[k].row];
        if (s > best) {
          best = s;
          a = i;
          b = k;
        }
      }
    const [p, q] = [clusters[a], clusters[b]];
    for (const other of clusters) {
      const s =
        (p.members.length * mean[p.row][other.row] + q.members.length * mean[q.row][other.row]) /
        (p.members.length + q.members.length);
      mean[p.row][other.row] = mean[other.row][p.row] = s;
    }
    const ways = [
      [p.members, q.members],
      [[...p.members].reverse(), q.members],
      [p.members, [...q.members].reverse()],
      [q.members, p.members],
    ];
    const touch = ([f, s]: number[][]) => strength[f[f.length - 1]][s[0]];
    const [first, second] = ways.reduce((x, y) => (touch(y) > touch(x) ? y : x));
    const joined = { row: p.row, members: [...first, ...second] };
    clusters = clusters.filter((_, i) => i !== a && i !== b);
    clusters.push(joined);
  }
  return { order: (clusters[0]?.members ?? []).map((i) => ids[i]), pairs: byPair, left: left.size };
}
