import { read } from "./api";
import { duration, moment, show, unitOf, whole } from "./format";
import { find, selector } from "./paths";
import { Scroll } from "./scroll";
import { Notice, Panel, useLoad } from "./widgets";
import { readWindow, zoneOf } from "./range";
import { change, link, route } from "./router";

interface Change {
  id: string;
  labels: Record<string, string>;
  granularity: number;
  score: number;
  before: number;
  after: number;
  usual: number;
  per_second: boolean;
  quantile: number | null;
  moved_at: string;
  seasons: string[];
  series: number;
  moved: number;
  where: { label: string; value: string; moved: number; of: number }[];
}
interface Answer {
  metrics: number;
  compared: number;
  changes: Change[];
}

const mostChanges = 20;

// Changed lists the metrics that moved most in a window, of those that the filters on the left find.
export function Changed() {
  const { params } = route.use(),
    zone = zoneOf();
  const w = readWindow(params) ?? { from: 0, to: 1 };
  const { text, labels } = find(params);
  const match = selector(text, labels);
  const { value, error, loading } = useLoad(
    (signal) => read<Answer>("/v1/changes", { match, start: w.from, stop: w.to, limit: mostChanges }, signal),
    [match, w.from, w.to],
  );
  const span = w.to - w.from,
    ids = params.getAll("m");
  const mark = (from: number, to: number) => change({ w: `${Math.floor(from)}-${Math.ceil(to)}` }, true);
  const most = Math.max(...(value?.changes ?? []).map((c) => c.score), 1);
  return (
    <Panel
      title="What changed here?"
      id="changed"
      aside={
        <>
          <span class="mono">
            {moment(w.from, zone)} – {moment(w.to, zone)}
          </span>
          <span class="group" role="group" aria-label="The marked time">
            <button
              type="button"
              aria-label="Mark earlier"
              title="Earlier"
              onClick={() => mark(w.from - span / 2, w.to - span / 2)}
            >
              ‹
            </button>
            <button
              type="button"
              aria-label="Mark later"
              title="Later"
              onClick={() => mark(w.from + span / 2, w.to + span / 2)}
            >
              ›
            </button>
            <button
              type="button"
              aria-label="Mark less"
              title="Shorter"
              onClick={() => mark(w.from + span / 4, w.to - span / 4)}
            >
              −
            </button>
            <button
              type="button"
              aria-label="Mark more"
              title="Longer"
              onClick={() => mark(w.from - span / 2, w.to + span / 2)}
            >
              +
            </button>
          </span>
          <button type="button" class="icon" aria-label="Close" title="Close" onClick={() => change({ w: null })}>
            ×
          </button>
        </>
      }
    >
      <p class="hint">
        Drag over the chart to mark another time. It is compared with the {duration(Math.round(span))} before, and what
        moved with the same time of earlier days{text || labels.length ? ", of the metrics found on the left" : ""}.
        {value && ` ${whole(value.compared)} of ${whole(value.metrics)} metrics have enough groups for that.`}
      </p>
      {error && <Notice bad>{error}</Notice>}
      {!value && loading && <p class="hint">Comparing …</p>}
      {value && value.changes.length === 0 && <p class="hint">There is nothing to compare at this time.</p>}
      {value && value.changes.length > 0 && (
        <Scroll>
          <table id="changes">
            <thead>
              <tr>
                <th scope="col">Metric</th>
                <th scope="col" class="number">
                  Before
                </th>
                <th scope="col" class="number">
                  Here
                </th>
                <th scope="col" title="The mean distance of deciles, in units of the spread before">
                  Moved by
                </th>
                <th scope="col">
                  <span class="hidden">Draw</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {value.changes.map((c) => {
                const name = c.labels.__name__ ?? c.id,
                  unit = unitOf(name.replace(/_bucket$/, "")),
                  per = c.per_second ? "/s" : "";
                return (
                  <tr key={c.id}>
                    <td>
                      <a
                        href={link("explore", {
                          m: c.id,
                          from: String(Math.floor(w.from - span)),
                          to: String(Math.ceil(w.to)),
                          w: `${w.from}-${w.to}`,
                        })}
                      >
                        {name}
                      </a>{" "}
                      <small>
                        {c.quantile && `${c.quantile}-quantile `}
                        {place(c.labels)}
                      </small>
                      <small class="why">{why(c, w.from, show(c.usual, unit) + per)}</small>
                    </td>
                    <td class="number" data-figure="before" data-value={c.before}>
                      {show(c.before, unit)}
                      {per}
                    </td>
                    <td class="number" data-figure="after" data-value={c.after}>
                      {show(c.after, unit)}
                      {per}
                    </td>
                    <td class="score" data-figure="score" data-value={c.score}>
                      <span class="meter">
                        <i style={{ width: 100 * Math.sqrt(c.score / most) + "%" }} />
                      </span>
                      {show(c.score, "", 2)}
                    </td>
                    <td class="number">
                      {!ids.includes(c.id) && (
                        <button
                          type="button"
                          class="icon"
                          aria-label={"Draw " + name}
                          title="Draw it, too"
                          onClick={() => change({ m: [...ids, c.id] })}
                        >
                          +
                        </button>
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

// why says what is unusual about a change, since when, and which series of its name moved.
function why(c: Change, from: number, usual: string): string {
  if (!c.moved) return "";
  const day = new Date(from * 1000).toLocaleString("en", { weekday: "long", timeZone: zoneOf() }),
    hour = new Date(from * 1000).toLocaleString("en-GB", { hour: "numeric", timeZone: zoneOf() }),
    weeks = c.seasons.some((s) => (from * 1000 - Date.parse(s)) % (7 * 86400e3) === 0);
  const unusual = c.seasons.length ? `unusual for ${weeks ? "a " + day : "a day"} at ${+hour}, usually ${usual}` : "";
  const moved = c.series > 1 ? `${whole(c.moved)} of ${whole(c.series)} moved` : "moved";
  const where = c.where.map((p) => `${p.label}=${p.value}`).join(", "),
    last = c.where.at(-1);
  return [
    `${moved} since ${moment(Date.parse(c.moved_at) / 1000, zoneOf())}`,
    last && `${whole(last.moved)} of ${whole(last.of)} with ${where}`,
    unusual,
  ]
    .filter(Boolean)
    .join(" · ");
}

const place = (labels: Record<string, string>) =>
  Object.entries(labels)
    .filter(([n]) => !["__name__", "metric_id", "resource_id", "resource_type"].includes(n))
    .map(([, v]) => v)[0] ?? (labels.resource_type === "generic" ? "" : labels.resource_type);
