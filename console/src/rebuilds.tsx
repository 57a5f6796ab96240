import { useState } from "preact/hooks";
import { APIError, read, request } from "./api";
import { count, moment, whole } from "./format";
import { Scroll } from "./scroll";
import { Notice, Panel, useLoad } from "./widgets";
import { rebuildsPath } from "./paths";
import { zoneOf } from "./range";
import { link } from "./router";

export interface Rebuild {
  id: string;
  archive_policy_name: string | null;
  metric_id: string | null;
  state: "planned" | "running" | "cancelled" | "done";
  started_at: string;
  finished_at: string | null;
  metrics: number;
  changed: number;
  unchanged: number;
  failed: number;
  error: string | null;
}

const mostShown = 20;

// Rebuilds shows what rebuilds archives, and how far it is: every second while one runs.
export function Rebuilds({ started }: { started: number }) {
  const [running, setRunning] = useState(false),
    [asked, ask] = useState(0),
    [failed, fail] = useState("");
  const { value, error } = useLoad(
    async (signal) => {
      const all = await read<Rebuild[]>(rebuildsPath, undefined, signal).catch((e) => {
        if (e instanceof APIError && e.status === 403) return [];
        throw e;
      });
      setRunning(all.some((r) => r.state === "running"));
      return all;
    },
    [started, asked],
    running ? 1 : 10,
  );
  const act = (method: string, path: string, body?: unknown) => {
    fail("");
    request(method, path, body).then(
      () => ask((n) => n + 1),
      (e: Error) => fail(e.message),
    );
  };
  if (error) return <Notice bad>{error}</Notice>;
  if (!value?.length) return null;
  const zone = zoneOf();
  return (
    <Panel title="Rebuilds" id="rebuilds" aside={running && <span>under way</span>}>
      {failed && <Notice bad>{failed}</Notice>}
      <Scroll>
        <table>
          <thead>
            <tr>
              <th scope="col">Of</th>
              <th scope="col">State</th>
              <th scope="col" class="wide">
                Progress
              </th>
              <th scope="col">Started</th>
              <th scope="col">
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.slice(0, mostShown).map((r) => {
              const done = r.changed + r.unchanged + r.failed;
              return (
                <tr key={r.id} data-rebuild={r.archive_policy_name ?? r.metric_id!} data-state={r.state}>
                  <td>
                    {r.metric_id === null ? (
                      <a href={link("policies", { policy: r.archive_policy_name! })}>{r.archive_policy_name}</a>
                    ) : (
                      <a class="mono" href={link("metric", { id: r.metric_id })}>
                        {r.metric_id.slice(0, 8)}
                      </a>
                    )}
                  </td>
                  <td>
                    {r.state}
                    {r.state === "planned" && ": " + r.archive_policy_name}
                    {r.failed > 0 && <span class="badly">, {r.failed} failed</span>}
                  </td>
                  <td class="wide">
                    <div
                      class="meter"
                      role="progressbar"
                      aria-label={"Rebuild of " + (r.archive_policy_name ?? r.metric_id)}
                      aria-valuemin={0}
                      aria-valuemax={r.metrics}
                      aria-valuenow={done}
                    >
                      <i
                        style={{
                          width: (r.metrics ? 100 * Math.min(1, done / r.metrics) : r.state === "done" ? 100 : 0) + "%",
                        }}
                      />
                    </div>
                    <small class="hint">
                      {r.state === "planned"
                        ? "begins at the time beside"
                        : r.state === "running" && !r.metrics
                          ? "about to begin"
                          : `${whole(done)} of ${count(r.metrics, "metric")}: ${whole(r.changed)} changed, ${whole(r.unchanged)} as they were`}
                      {r.error && `; ${r.error}`}
                    </small>
                  </td>
                  <td class="mono">{moment(Date.parse(r.started_at) / 1000, zone)}</td>
                  <td class="number">
                    {r.state === "running" || r.state === "planned" ? (
                      <button type="button" onClick={() => act("DELETE", "/v1/rebuild/" + r.id)}>
                        Cancel
                      </button>
                    ) : (
                      (r.state === "cancelled" || r.failed > 0) && (
                        <button
                          type="button"
                          onClick={() =>
                            act(
                              "POST",
                              "/v1/rebuild",
                              r.metric_id !== null
                                ? { metric_id: r.metric_id }
                                : { archive_policy_name: r.archive_policy_name },
                            )
                          }
                        >
                          Start again
                        </button>
                      )
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      {value.length > mostShown && <p class="hint">and {count(value.length - mostShown, "earlier one")}</p>}
    </Panel>
  );
}
