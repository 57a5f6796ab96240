import { useState } from "preact/hooks";
import { APIError, read } from "../api";
import { show, timespan, whole } from "../format";
import { byName } from "../metrics";
import { Scroll } from "../scroll";
import { Notice, Panel, useLoad } from "../widgets";
import { rulesPath } from "../paths";
import { costOf, listPolicies, spell, type APIPolicy, type Cost } from "../policies";
import { PolicyEditor } from "../policy_editor";
import { Rebuilds } from "../rebuilds";
import { Recordings } from "../recordings";
import { link, route } from "../router";

interface Rule {
  name: string;
  metric_pattern: string;
  archive_policy_name: string;
}
interface Listed {
  policy: APIPolicy;
  cost: Cost | null;
}

// Policies lists archive policies with what they cost, lets one be changed with the cost and the loss told before, and
// shows rebuilds.
export function Policies() {
  const { params } = route.use();
  const [changed, setChanged] = useState(0);
  const chosen = params.get("policy"),
    creates = params.has("new");
  const { value, error } = useLoad(
    async (signal) => {
      const policies = await listPolicies(signal);
      let hidden = false,
        failed = "";
      const all = await Promise.all(
        policies.map(async (policy): Promise<Listed> => {
          const cost = await costOf(policy.name, undefined, signal).catch((e) => {
            if (e instanceof APIError && e.status === 403) hidden = true;
            else if (!(e instanceof APIError)) throw e;
            else if (e.status !== 404) failed = e.message; // else deleted meanwhile
            return null;
          });
          return { policy, cost };
        }),
      );
      const size = (l: Listed) => (l.cost ? l.cost.metrics * l.cost.bytes : 0);
      const sorted = byName(all, (l) => l.policy.name).sort(
        (a, b) => size(b) - size(a) || (b.cost?.metrics ?? 0) - (a.cost?.metrics ?? 0),
      );
      return { all: sorted, hidden, failed };
    },
    [changed],
  );
  const rules = useLoad((signal) => read<Rule[]>(rulesPath, undefined, signal), [changed]);
  if (error && !value) return <Notice bad>{error}</Notice>;
  if (!value) return <Notice>Reading archive policies …</Notice>;
  const done = () => setChanged((n) => n + 1);
  const policy = value.all.find((l) => l.policy.name === chosen)?.policy;
  return (
    <>
      {error && <Notice bad>{error}</Notice>}
      {value.failed && <Notice bad>{value.failed}: what some policies cost is not known.</Notice>}
      {value.hidden && <Notice>What archive policies cost, and changing them, is for administrators.</Notice>}
      {chosen !== null && !policy && <Notice bad>There is no archive policy {chosen}.</Notice>}
      {(policy || creates) && (
        <PolicyEditor
          key={policy?.name ?? "\n"}
          policy={policy}
          all={value.all}
          readOnly={value.hidden}
          onDone={done}
        />
      )}
      <Rebuilds started={changed} />
      <List all={value.all} chosen={chosen} readOnly={value.hidden} />
      <Recordings />
      {rules.value && rules.value.length > 0 && (
        <Panel
          title="Rules"
          id="rules"
          aside={
            <span>
              A metric that is created without an archive policy gets that of the first pattern its name matches
            </span>
          }
        >
          <Scroll>
            <table>
              <thead>
                <tr>
                  <th scope="col">Pattern</th>
                  <th scope="col">Archive policy</th>
                  <th scope="col">Rule</th>
                </tr>
              </thead>
              <tbody>
                {rules.value.map((r) => (
                  <tr key={r.name} data-rule={r.name}>
                    <td class="mono">{r.metric_pattern}</td>
                    <td>
                      <a href={link("policies", { policy: r.archive_policy_name })}>{r.archive_policy_name}</a>
                    </td>
                    <td>{r.name}</td>
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

export const keeps = (p: APIPolicy) =>
  p.definition.map(
    (d) =>
      [
        spell(timespan(d.granularity)),
        d.timespan === null ? "for good" : "for " + spell(timespan(d.timespan)),
      ] as const,
  );

function List({ all, chosen, readOnly }: { all: Listed[]; chosen: string | null; readOnly: boolean }) {
  const sampled = all.some(({ cost }) => cost && cost.sampled < cost.metrics);
  return (
    <Panel
      title="Archive policies"
      id="policies"
      aside={
        !readOnly && (
          <a class="button" href={link("policies", { new: "1" })}>
            New policy
          </a>
        )
      }
    >
      <Scroll>
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">Policy</th>
              <th scope="col">Keeps</th>
              {!readOnly && (
                <>
                  <th scope="col" class="number">
                    Metrics
                  </th>
                  <th scope="col" class="number">
                    Measures a day
                  </th>
                  <th scope="col" class="number">
                    On disk now
                  </th>
                  <th scope="col" class="number">
                    When full
                  </th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {all.map(({ policy, cost }) => {
              const of = (v: number) => v * (cost?.metrics ?? 0),
                about = cost && cost.sampled < cost.metrics ? "≈ " : "";
              return (
                <tr
                  key={policy.name}
                  data-policy={policy.name}
                  aria-current={policy.name === chosen ? "true" : undefined}
                >
                  <td>
                    <a href={link("policies", { policy: policy.name })}>{policy.name}</a>
                  </td>
                  <td>
                    <ul class="spans">
                      {keeps(policy).map(([granularity, span]) => (
                        <li key={granularity}>
                          <b>{granularity}</b> {span}
                        </li>
                      ))}
                    </ul>
                    <small class="hint">
                      {policy.aggregation_methods.length > 8
                        ? policy.aggregation_methods.slice(0, 7).join(", ") +
                          ` and ${policy.aggregation_methods.length - 7} more`
                        : policy.aggregation_methods.join(", ")}
                    </small>
                  </td>
                  {!readOnly &&
                    (cost ? (
                      <>
                        <td class="number" data-label="Metrics" data-metrics={cost.metrics}>
                          {whole(cost.metrics)}
                        </td>
                        <td class="number" data-label="Measures a day" data-measures={of(cost.measures_per_day)}>
                          {cost.metrics ? about + show(of(cost.measures_per_day)) : "–"}
                        </td>
                        <td class="number" data-label="On disk now" data-stored={of(cost.stored_bytes)}>
                          {cost.metrics ? about + show(of(cost.stored_bytes), "bytes", 3) : "–"}
                        </td>
                        <td class="number" data-label="When full" data-full={of(cost.bytes)}>
                          {cost.metrics ? about + show(of(cost.bytes), "bytes", 3) : "–"}
                          {cost.bytes_per_day > 0 && (
                            <small class="more">and {show(of(cost.bytes_per_day), "bytes", 3)} a day</small>
                          )}
                        </td>
                      </>
                    ) : (
                      <td colSpan={4} />
                    ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      {!readOnly && (
        <p class="hint">
          Bytes are those of keys and values in the archives, before blocks are compressed; measures of the last minutes
          are not among them yet.{sampled && " ≈ estimated from 25 metrics of the policy."}
        </p>
      )}
    </Panel>
  );
}
