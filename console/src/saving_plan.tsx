import { useState } from "preact/hooks";
import { APIError, read, request } from "./api";
import { listed, planOf, plansOf, seconds, type Plan } from "./saving_plans";
import type { Redundant } from "./correlations";
import { count, moment, show } from "./format";
import { zoneOf } from "./range";
import { Notice, useLoad } from "./widgets";

const graceDays = 7,
  atOnce = 8;

// SavingPlan offers to keep redundant metrics at their coarsest granularity. For a week nothing is changed, and one
// click cancels all of it.
export function SavingPlan({ value }: { value: Redundant }) {
  const [asked, ask] = useState(0),
    [busy, setBusy] = useState(0),
    [failed, fail] = useState<string[]>([]);
  const drop = value.groups.flatMap((g) => g.drop),
    key = drop.map((d) => d.metric).join();
  const { value: plan, error } = useLoad((signal) => planOf(drop, signal), [key]);
  const planned = useLoad(
    (signal) =>
      plansOf(new Set(drop.map((d) => d.metric)), signal).catch((e) => {
        if (e instanceof APIError && e.status === 403) return null;
        throw e;
      }),
    [key, asked],
    60,
  );
  if (error ?? planned.error) return <Notice bad>{error ?? planned.error}</Notice>;
  if (!plan || planned.value === undefined) return null;
  if (planned.value === null) return <p class="hint">An admin may plan to keep them coarser.</p>;
  const all = async <T,>(items: T[], act: (item: T) => Promise<unknown>) => {
    const faults = new Map<string, number>();
    fail([]);
    setBusy(items.length);
    for (let i = 0; i < items.length; i += atOnce) {
      const part = await Promise.allSettled(items.slice(i, i + atOnce).map(act));
      for (const one of part)
        if (one.status === "rejected") {
          const text = (one.reason as Error).message;
          faults.set(text, (faults.get(text) ?? 0) + 1);
        }
      setBusy(items.length - Math.min(items.length, i + atOnce));
    }
    fail([...faults].map(([text, n]) => `${count(n, "metric")}: ${text}`));
    ask((n) => n + 1);
  };
  const start = async () => {
    try {
      await makePolicies(plan);
    } catch (e) {
      return fail([(e as Error).message]);
    }
    await all(
      plan.parts.flatMap((p) => p.metrics.map((id) => ({ id, policy: p.coarse.name }))),
      ({ id, policy }) =>
        request("PATCH", "/v1/metric/" + id, { archive_policy_name: policy, after: graceDays * 86400 }),
    );
  };
  const waits = planned.value,
    first = Math.min(...waits.map((r) => Date.parse(r.started_at) / 1000));
  return (
    <div id="plan" data-planned={waits.length} data-bytes={plan.bytes}>
      {failed.map((text) => (
        <Notice bad key={text}>
          {text}
        </Notice>
      ))}
      {waits.length > 0 ? (
        <p>
          <b>Planned:</b> {count(waits.length, "metric")} will be kept coarser from {moment(first, zoneOf())} on. Until
          then nothing changes.{" "}
          <button
            type="button"
            disabled={busy > 0}
            onClick={() => void all(waits, (r) => request("DELETE", "/v1/rebuild/" + r.id))}
          >
            Cancel the plan
          </button>
        </p>
      ) : plan.parts.length === 0 ? (
        <p class="hint">They have one granularity each: no finer one can go.</p>
      ) : (
        <>
          <p>
            <button type="button" class="main" disabled={busy > 0} onClick={() => void start()}>
              Keep {count(plan.metrics, "metric")} coarser in {graceDays} days
            </button>{" "}
            saves <b>{show(plan.bytes, "bytes", 3)}</b> of what they take now. Until then nothing changes, and one click
            cancels it; after that, what went is gone. It saves little CPU, as their measures still come: not to send
            them saves about <b>{seconds(plan.cpu)}</b> a day.
          </p>
          <ul class="hint">
            {plan.parts.map((p) => (
              <li key={p.policy.name}>
                {count(p.metrics.length, "metric")} of {p.policy.name}: {listed(p.gone)} go, {p.kept} stays, by{" "}
                {p.coarse.name}
                {p.isNew && ", which is made"}
              </li>
            ))}
            {plan.single > 0 && <li>{count(plan.single, "metric")} with one granularity: as now</li>}
          </ul>
        </>
      )}
      {busy > 0 && <p class="hint">{count(busy, "metric")} to go …</p>}
    </div>
  );
}

// makePolicies makes the archive policies that a plan needs. Another user may have made one meanwhile.
async function makePolicies(plan: Plan) {
  for (const { coarse, isNew } of plan.parts)
    if (isNew)
      await read("/v1/archive_policy", coarse).catch((e) => {
        if (!(e instanceof APIError && e.status === 409)) throw e;
      });
}
