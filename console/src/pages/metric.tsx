import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { read } from "../api";
import { Chart, type Mark } from "../chart";
import { count, duration, moment, short, show, unitOf, whole } from "../format";
import { called, changesOf, hidden, readLedger, words, type Attributes } from "../flags";
import { readArchive, readMetric, type Item, type Metric } from "../metrics";
import { Figure } from "../figure";
import { Heading, Notice, Panel, useLoad, type Loaded } from "../widgets";
import { zoneOf } from "../range";
import { link, route } from "../router";

type Rows = [string, number, number | null][];

interface Kept {
  item: Item;
  first: number | null;
  last: number | null;
  value: number | null;
  times: number[];
  values: (number | null)[];
  step: number;
}

// readKept finds the first and the last group of a granularity without reading all of them: regrouped to some 300, then
// the groups of the first and of the last of these, and, of a young metric, what is drawn, as fine as it fits.
async function readKept(metric: Metric, item: Item, method: string, signal: AbortSignal): Promise<Kept> {
  const ask = (more: Record<string, string>) =>
    read<Rows>(
      `/v1/metric/${metric.id}/measures?` +
        new URLSearchParams({ granularity: String(item.granularity), aggregation: method, ...more }),
      undefined,
      signal,
    );
  const step = item.granularity * Math.max(1, Math.ceil(item.points / 300));
  const coarse = step === item.granularity ? await ask({}) : await ask({ resample: String(step) });
  const times = coarse.map(([t]) => Date.parse(t) / 1000),
    values = coarse.map(([, , v]) => v);
  const none = { item, first: null, last: null, value: null, times, values, step };
  if (!times.length) return none;
  const start = times[0],
    end = times[times.length - 1] + step;
  const within = (start: number) =>
    step === item.granularity ? coarse : ask({ start: String(start), stop: String(start + step) });
  const fits = item.granularity * Math.ceil((end - start) / item.granularity / 300);
  const [head, tail, drawn] = await Promise.all([
    within(start),
    within(end - step),
    fits < step && ask({ start: String(start), ...(fits > item.granularity && { resample: String(fits) }) }),
  ]);
  if (!head.length || !tail.length) return none;
  const [first, last] = [head[0], tail[tail.length - 1]].map(([t]) => Date.parse(t) / 1000);
  const kept = { item, first, last, value: tail[tail.length - 1][2], times, values, step };
  return drawn
    ? { ...kept, times: drawn.map(([t]) => Date.parse(t) / 1000), values: drawn.map(([, , v]) => v), step: fits }
    : kept;
}

// MetricPage shows what is kept of one metric, and the resource that it belongs to.
export function MetricPage() {
  const { params } = route.use();
  const id = params.get("id") ?? "",
    zone = zoneOf();
  const { value: metric, error } = useLoad((signal) => readMetric(id, signal), [id]);
  const [kept, setKept] = useState<Kept[]>([]),
    [failed, setFailed] = useState("");
  const method = metric && (metric.policy.methods.includes("mean") ? "mean" : metric.policy.methods[0]);
  useLayoutEffect(() => {
    if (!metric || !method) return;
    const stop = new AbortController();
    Promise.all(metric.policy.items.map((item) => readKept(metric, item, method, stop.signal))).then(
      setKept,
      (e: Error) => {
        if (!stop.signal.aborted) setFailed(e.message);
      },
    );
    return () => stop.abort();
  }, [metric]);
  const { value: archive } = useLoad((signal) => readArchive(id, signal), [id], 10);
  const resource = useResource(metric?.resource, metric?.kind);
  const ledger = useLoad((signal) => readLedger([["metric", id]], signal), [id], 10);
  const marks = useMemo<Mark[]>(
    () => [...(resource.value?.changes ?? []), ...(ledger.value ?? [])],
    [resource.value, ledger.value],
  );
  if (error) return <Notice bad>{id ? error : "The address names no metric"}</Notice>;
  if (!metric) return <Notice>Reading …</Notice>;
  const unit = unitOf(metric.name ?? "", metric.unit),
    finest = kept[0];
  const where = resource.value
    ? called(resource.value.now)
    : Object.entries(metric.place)
        .filter(([name]) => name && name !== "__name__")
        .map(([name, value]) => `${name}=${value}`)
        .join(", ");
  return (
    <>
      <div class="bar">
        <Heading key={id}>{metric.name ?? "A metric without a name"}</Heading>
        {where && (
          <span class="hint" id="host">
            {where}
          </span>
        )}
        <span class="grow" />
        <a href={link("explore", { m: metric.id })}>Explore</a>
      </div>
      {failed && <Notice bad>{failed}</Notice>}
      <Panel title="Metric" aside={<span class="mono">{metric.id}</span>}>
        <dl class="figures">
          <Figure
            id="last"
            name={`Last ${method} of ${duration(metric.policy.items[0].granularity)}`}
            value={show(finest?.value, unit)}
            about={finest?.last ? moment(finest.last, zone) : undefined}
          />
          <Figure
            id="policy"
            name="Archive policy"
            value={metric.policy.name}
            about={metric.policy.methods.join(", ")}
          />
          <Figure
            id="newest"
            name="Newest measure"
            value={archive?.raw.newest ? moment(Date.parse(archive.raw.newest) / 1000, zone).slice(11) : "–"}
            about={archive?.raw.newest ? moment(Date.parse(archive.raw.newest) / 1000, zone).slice(0, 10) : undefined}
          />
          <Figure
            id="bytes"
            name="Kept"
            value={archive ? show(archive.bytes, "bytes") : "–"}
            about="without what waits in memory"
          />
          <Figure
            id="raw"
            name="Of these, raw measures"
            value={archive ? show(archive.raw.bytes, "bytes") : "–"}
            about={
              archive?.raw.kept_from
                ? "kept since " + moment(Date.parse(archive.raw.kept_from) / 1000, zone)
                : undefined
            }
          />
          <Figure
            id="dropped"
            name="Dropped measures"
            value={whole(archive?.dropped_measures)}
            about="came after the back window"
          />
          <Figure
            id="late"
            name="Late measures"
            value={whole(archive?.late_measures)}
            about="came out of order, and count"
          />
          <Figure
            name="Back window"
            value={count(metric.policy.backWindow, "block")}
            about="in which late measures count"
          />
          <Figure name="Creator" value={metric.creator || "–"} />
        </dl>
      </Panel>
      {kept.map((k) => (
        <Panel
          key={k.item.granularity}
          title={"Groups of " + duration(k.item.granularity)}
          aside={
            <span data-granularity={k.item.granularity} data-first={k.first ?? ""} data-last={k.last ?? ""}>
              {k.first && k.last ? `${moment(k.first, zone)} to ${moment(k.last, zone)}` : "none yet"}, kept for{" "}
              {duration(k.item.timespan)} ({count(k.item.points, "point")}),{" "}
              <b data-bytes={k.item.granularity}>
                {show(archive?.archives.find((a) => a.granularity === k.item.granularity)?.bytes, "bytes")}
              </b>
            </span>
          }
        >
          {k.first !== null && k.last !== null && (
            <Chart
              lines={[{ label: method!, color: 0, times: k.times, values: k.values, step: k.step }]}
              from={k.first}
              to={end(k.first, k.last, k.item.granularity, marks)}
              height={130}
              unit={unit}
              zone={zone}
              marks={marks}
              title={`${metric.name}, groups of ${duration(k.item.granularity)}`}
              small
            />
          )}
          {k.step > k.item.granularity && k.first !== null && <p class="hint">Drawn in steps of {duration(k.step)}</p>}
        </Panel>
      ))}
      {metric.resource && <Resource {...resource} zone={zone} />}
    </>
  );
}

// end is where a chart ends: behind the last group, and behind flags that stand little later.
const end = (first: number, last: number, granularity: number, marks: Mark[]) =>
  Math.max(
    last,
    first + granularity,
    ...marks.map((m) => m.time).filter((t) => t < last + Math.max(0.1 * (last - first), 2 * granularity)),
  );

interface State {
  now: Attributes;
  changes: Mark[];
}

// useResource reads a resource, and what changed in it when.
function useResource(id?: string | null, kind = "generic"): Loaded<State | null> {
  return useLoad(
    async (signal) => {
      if (!id) return null;
      const path = `/v1/resource/${encodeURIComponent(kind)}/${id}`;
      const [now, history] = await Promise.all([
        read<Attributes>(path, undefined, signal),
        read<Attributes[]>(path + "/history?limit=100&sort=revision_start:asc", undefined, signal),
      ]);
      return { now, changes: changesOf(history) };
    },
    [id],
  );
}

// Resource shows the attributes of a resource, and its history, which the charts above have as flags.
function Resource({ value, error, zone }: Loaded<State | null> & { zone: string }) {
  if (error) return <Notice>The resource: {error}</Notice>;
  if (!value) return null;
  const { now, changes } = value;
  return (
    <div class="two">
      <Panel title="Resource" id="resource">
        <dl class="pairs">
          {Object.entries(now)
            .filter(([n]) => !hidden.includes(n))
            .map(([n, v]) => [
              <dt key={n}>{n}</dt>,
              <dd key={n + "="} title={words(v)}>
                {short(words(v))}
              </dd>,
            ])}
        </dl>
      </Panel>
      <Panel title="Its history">
        {changes.length === 0 ? (
          <p class="hint">It has not changed since {moment(Date.parse(String(now.revision_start)) / 1000, zone)}.</p>
        ) : (
          <table id="history">
            <tbody>
              {[...changes].reverse().map((c, i) => (
                <tr key={i}>
                  <td class="mono">{moment(c.time, zone)}</td>
                  <td>{c.label}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Panel>
    </div>
  );
}
