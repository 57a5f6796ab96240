import { read } from "./api";
import type { Redundant } from "./correlations";
import { duration, timespan } from "./format";
import { listSeries } from "./metrics";
import { chosenPath, policiesPath, rebuildsPath } from "./paths";
import type { APIPolicy } from "./policies";
import type { Rebuild } from "./rebuilds";

// A Plan is which redundant metrics get which coarser archive policy.
export interface Plan {
  parts: Part[];
  metrics: number; // that change
  single: number; // that have one granularity only
  bytes: number; // of splits that go, now
  cpu: number; // seconds a day that their measures take
}
interface Part {
  policy: APIPolicy;
  coarse: APIPolicy;
  isNew: boolean;
  metrics: string[];
  gone: string[]; // granularities
  kept: string;
}

type Drop = Redundant["groups"][number]["drop"][number];

const namedAtOnce = 100,
  cpuOfMeasure = 1.63e-6; // seconds, in requests of a thousand measures, as gnocco size says

// planOf says what keeping metrics at the coarsest granularity of their archive policies takes. The coarser policy has
// the same methods and back window, so that nothing but the finer granularities is lost.
export async function planOf(drop: Drop[], signal: AbortSignal): Promise<Plan> {
  const ids = drop.map((d) => d.metric),
    parts: Promise<{ id: string; of: { policy: string } }[]>[] = [];
  for (let i = 0; i < ids.length; i += namedAtOnce)
    parts.push(listSeries(chosenPath(ids.slice(i, i + namedAtOnce)), signal));
  const [series, policies] = await Promise.all([
    Promise.all(parts).then((all) => all.flat()),
    read<APIPolicy[]>(policiesPath, undefined, signal),
  ]);
  const policyOf = new Map(series.map((s) => [s.id, s.of.policy])),
    plan: Plan = { parts: [], metrics: 0, single: 0, bytes: 0, cpu: 0 };
  for (const policy of policies) {
    const members = drop.filter((d) => policyOf.get(d.metric) === policy.name);
    if (members.length === 0) continue;
    const items = [...policy.definition].sort((a, b) => timespan(a.granularity) - timespan(b.granularity)),
      last = items.pop()!;
    if (items.length === 0) {
      plan.single += members.length;
      continue;
    }
    const coarse = { ...policy, definition: [last] };
    const equal = policies.find((p) => same(p, coarse)),
      names = new Set(policies.map((p) => p.name));
    coarse.name = equal?.name ?? free(policy.name + "-coarse", names);
    plan.parts.push({
      policy,
      coarse,
      isNew: !equal,
      metrics: members.map((d) => d.metric),
      gone: items.map((d) => duration(timespan(d.granularity))),
      kept: duration(timespan(last.granularity)),
    });
    plan.metrics += members.length;
    for (const d of members) {
      plan.bytes += d.finer_bytes;
      plan.cpu += d.measures_per_day * cpuOfMeasure;
    }
  }
  return plan;
}

// same reports whether two policies differ by name at most.
const same = (a: APIPolicy, b: APIPolicy) => {
  const of = (p: APIPolicy) =>
    JSON.stringify([
      p.back_window,
      [...p.aggregation_methods].sort(),
      p.definition.map((d) => [timespan(d.granularity), d.points]),
    ]);
  return of(a) === of(b);
};

function free(name: string, taken: Set<string>): string {
  for (let n = 2, tried = name; ; tried = `${name}-${n++}`) if (!taken.has(tried)) return tried;
}

// plansOf returns the planned changes of metrics.
export const plansOf = async (ids: Set<string>, signal: AbortSignal) =>
  (await read<Rebuild[]>(rebuildsPath, undefined, signal)).filter(
    (r) => r.state === "planned" && r.metric_id !== null && ids.has(r.metric_id),
  );

// seconds writes a time of CPU.
export const seconds = (s: number) => (s < 1 ? `${Math.max(1, Math.round(1000 * s))} ms` : duration(Math.round(s)));

export const listed = (items: string[]) =>
  items.length < 2 ? items.join() : items.slice(0, -1).join(", ") + " and " + items.at(-1);
