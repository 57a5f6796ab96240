import { useEffect, useMemo, useState } from "preact/hooks";
import { APIError } from "./api";
import { count, show, timespan, whole } from "./format";
import { Notice, Panel, useLoad } from "./widgets";
import {
  bodyOf,
  changePolicy,
  costOf,
  createPolicy,
  deletePolicy,
  draftOf,
  draftParams,
  parseSpan,
  previewOf,
  readDraft,
  spell,
  type APIPolicy,
  type Cost,
  type Draft,
  type Preview,
} from "./policies";
import { change, link, route } from "./router";

interface Props {
  policy?: APIPolicy;
  all: { policy: APIPolicy; cost: Cost | null }[];
  readOnly: boolean;
  onDone: () => void;
}

const fresh: Draft = {
  items: [
    { granularity: "1 min", timespan: "30 days" },
    { granularity: "1 h", timespan: "1 year" },
  ],
  methods: ["mean", "min", "max", "count"],
  back: 0,
};
const usual = [
  "mean",
  "min",
  "max",
  "sum",
  "count",
  "std",
  "first",
  "last",
  "median",
  "95pct",
  "99pct",
  "rate:mean",
  "rate:max",
  "increase",
  "resets",
];

// PolicyEditor changes a policy, or makes one, and tells before what it would cost and what is lost.
export function PolicyEditor({ policy, all, readOnly, onDone }: Props) {
  const { params } = route.use();
  const before = useMemo(() => (policy ? draftOf(policy) : fresh), [policy]);
  const draft = readDraft(params, before);
  const edit = (change_: Partial<Draft>) => change(draftParams({ ...draft, ...change_ }), true);
  const alike = all.filter((l) => l.cost && l.cost.metrics > l.cost.silent && l.policy.name !== policy?.name);
  const own = all.find((l) => l.policy.name === policy?.name)?.cost;
  const like =
    params.get("like") ??
    (own && own.sampled > own.silent ? policy!.name : (alike[0]?.policy.name ?? policy?.name ?? ""));
  const [name, setName] = useState(""),
    [asked, ask] = useState(["", ""]),
    [said, say] = useState(""),
    [failed, fail] = useState(""),
    [busy, setBusy] = useState(false);
  const { body, wrong } = bodyOf(draft),
    text = JSON.stringify(body ?? null);
  const edited = text !== JSON.stringify(bodyOf(before).body ?? null);
  const [settled, settle] = useState(text);
  const asks = asked[1] === text ? asked[0] : "",
    setAsks = (what: string) => ask([what, text]); // an edit takes the question back
  useEffect(() => {
    const timer = setTimeout(() => settle(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  const estimate = useLoad(
    async (signal) => {
      const wanted = JSON.parse(settled);
      if (!wanted || readOnly) return null;
      const changes = settled !== JSON.stringify(bodyOf(before).body ?? null);
      // The list of policies has asked for this cost already.
      if (!changes && own && like === policy?.name) return { now: own, then: own, preview: null, of: settled };
      const [now, then, preview] = await Promise.all([
        policy && like === policy.name
          ? costOf(like, undefined, signal)
          : policy && like
            ? costOf(like, bodyOf(before).body, signal)
            : null,
        like ? costOf(like, wanted, signal) : null,
        policy && changes ? previewOf(policy.name, wanted, signal) : null,
      ]);
      return { now, then, preview, of: settled };
    },
    [settled, like, policy],
  );
  const told = estimate.value?.of === text ? estimate.value : null;
  const act = async (what: () => Promise<unknown>, words: string, next: Record<string, string | null>) => {
    fail("");
    say("");
    setBusy(true);
    try {
      await what();
      say(words);
      change({ def: null, methods: null, back: null, ...next }, true);
      onDone();
    } catch (e) {
      fail(e instanceof APIError && e.status === 403 ? "Only administrators may do this" : (e as Error).message);
    }
    setBusy(false);
    setAsks("");
  };
  const metrics = own?.metrics ?? 0;
  const loses =
    told?.preview &&
    (told.preview.removed_granularities.length > 0 || told.preview.removed_aggregation_methods.length > 0);
  return (
    <Panel
      id="editor"
      title={
        policy ? (
          <>
            Archive policy <span class="name">{policy.name}</span>
          </>
        ) : (
          "A new archive policy"
        )
      }
      aside={
        <a class="button" href={link("policies")}>
          Close
        </a>
      }
    >
      {said && <Notice>{said}</Notice>}
      {failed && <Notice bad>{failed}</Notice>}
      <div class="editor">
        <form onSubmit={(e) => e.preventDefault()}>
          <fieldset disabled={readOnly || busy}>
            {!policy && (
              <label class="field">
                Name
                <input id="new-name" value={name} maxLength={255} onInput={(e) => setName(e.currentTarget.value)} />
              </label>
            )}
            <Granularities draft={draft} edit={edit} />
            <Methods draft={draft} edit={edit} />
            <label class="field">
              Back window
              <span class="inline">
                <input
                  type="number"
                  min={0}
                  max={2147483647}
                  value={draft.back}
                  onInput={(e) => {
                    const n = e.currentTarget.valueAsNumber;
                    if (n >= 0 && Number.isInteger(n)) edit({ back: n });
                  }}
                />{" "}
                blocks of the coarsest granularity before the newest still take late measures
              </span>
            </label>
            {(!policy || !own || own.sampled === own.silent) && alike.length > 0 && (
              <label class="field">
                Estimated from metrics of
                <select value={like} onChange={(e) => change({ like: e.currentTarget.value }, true)}>
                  {like && !alike.some((l) => l.policy.name === like) && <option value={like}>{like}</option>}
                  {alike.map((l) => (
                    <option key={l.policy.name} value={l.policy.name}>
                      {l.policy.name}
                    </option>
                  ))}
                </select>
              </label>
            )}
          </fieldset>
          {wrong && (
            <p class="hint badly" role="status">
              {wrong}
            </p>
          )}
          {!readOnly && (
            <div class="bar actions">
              {policy ? (
                <>
                  {!asks && (
                    <button
                      type="button"
                      class="main"
                      disabled={!edited || !body || busy}
                      onClick={() => setAsks("change")}
                    >
                      {metrics ? `Change ${count(metrics, "metric")} …` : "Change …"}
                    </button>
                  )}
                  {!asks && edited && (
                    <button type="button" onClick={() => change({ def: null, methods: null, back: null })}>
                      Undo
                    </button>
                  )}
                  {!asks && (
                    <>
                      <span class="grow" />
                      <button type="button" disabled={busy} onClick={() => setAsks("delete")}>
                        Delete …
                      </button>
                    </>
                  )}
                  {asks === "change" && (
                    <Ask
                      text={
                        loses
                          ? "What is removed does not come back."
                          : metrics
                            ? "Archives are rebuilt in the background; a rebuild can be cancelled."
                            : "It has no metrics yet."
                      }
                      yes={loses ? "Change and remove" : "Change"}
                      onNo={() => setAsks("")}
                      onYes={() =>
                        void act(() => changePolicy(policy.name, body), "The archive policy is changed.", {})
                      }
                    />
                  )}
                  {asks === "delete" && (
                    <Ask
                      text={`Delete the archive policy ${policy.name}?`}
                      yes="Delete"
                      onNo={() => setAsks("")}
                      onYes={() => void act(() => deletePolicy(policy.name), "", { policy: null, like: null })}
                    />
                  )}
                </>
              ) : (
                <button
                  type="button"
                  class="main"
                  disabled={!body || !name.trim() || busy}
                  onClick={() =>
                    void act(() => createPolicy({ name, ...body }), "", { policy: name, new: null, like: null })
                  }
                >
                  Create
                </button>
              )}
            </div>
          )}
        </form>
        {!readOnly && (
          <div class="cost" aria-live="polite" id="cost" data-of={told ? "draft" : ""}>
            {estimate.error && <Notice bad>{estimate.error}</Notice>}
            {estimate.value?.then ? (
              <Comparison
                now={estimate.value.now}
                then={estimate.value.then}
                metrics={metrics}
                edited={edited}
                like={like}
                policy={policy?.name}
                faded={!told}
              />
            ) : (
              estimate.value && (
                <p class="hint">
                  {like ? "" : "No metric on this server has measures yet, so nothing tells what this costs. "}
                </p>
              )
            )}
            {estimate.value?.preview && edited && metrics > 0 && (
              <History preview={estimate.value.preview} faded={!told} />
            )}
          </div>
        )}
      </div>
    </Panel>
  );
}

function Ask({ text, yes, onYes, onNo }: { text: string; yes: string; onYes: () => void; onNo: () => void }) {
  return (
    <div class="ask" role="group" aria-label={text}>
      <span>{text}</span>
      <button
        type="button"
        class="main"
        ref={(e) => {
          if (e && !e.dataset.seen) {
            e.dataset.seen = "1";
            e.focus();
          }
        }}
        onClick={onYes}
      >
        {yes}
      </button>
      <button type="button" onClick={onNo}>
        No
      </button>
    </div>
  );
}

type Edit = (change: Partial<Draft>) => void;

function Granularities({ draft, edit }: { draft: Draft; edit: Edit }) {
  const set = (i: number, item: Partial<Draft["items"][0]>) =>
    edit({ items: draft.items.map((old, k) => (k === i ? { ...old, ...item } : old)) });
  const last = draft.items.at(-1);
  return (
    <div class="granularities" role="group" aria-label="Granularities">
      <div class="row head">
        <span>Granularity</span>
        <span>Kept for</span>
        <span class="number">Points</span>
      </div>
      {draft.items.map((item, i) => {
        const g = parseSpan(item.granularity),
          s = parseSpan(item.timespan);
        return (
          <div class="row" key={i}>
            <input
              list="spans"
              aria-label={`Granularity ${i + 1}`}
              value={item.granularity}
              aria-invalid={!(g > 0)}
              onInput={(e) => set(i, { granularity: e.currentTarget.value.replace(/[,:]/g, "") })}
            />
            <input
              list="timespans"
              aria-label={`Timespan ${i + 1}`}
              value={item.timespan}
              placeholder="for good"
              aria-invalid={item.timespan.trim() !== "" && !(s >= g)}
              onInput={(e) => set(i, { timespan: e.currentTarget.value.replace(/[,:]/g, "") })}
            />
            <span class="number">{s >= g ? whole(Math.floor(s / g + 1e-9)) : item.timespan.trim() ? "–" : "∞"}</span>
            <button
              type="button"
              class="icon"
              aria-label={`Remove granularity ${item.granularity}`}
              title="Remove"
              onClick={() => edit({ items: draft.items.filter((_, k) => k !== i) })}
            >
              ✕
            </button>
          </div>
        );
      })}
      <button
        type="button"
        class="plain"
        onClick={() =>
          edit({
            items: [
              ...draft.items,
              {
                granularity: last ? spell((parseSpan(last.granularity) || 1) * 60) : "1 min",
                timespan: last?.timespan ?? "30 days",
              },
            ],
          })
        }
      >
        + Add a granularity
      </button>
      <datalist id="spans">
        {["1 s", "10 s", "30 s", "1 min", "5 min", "10 min", "1 h", "6 h", "1 day"].map((s) => (
          <option key={s} value={s} />
        ))}
      </datalist>
      <datalist id="timespans">
        {["1 h", "6 h", "1 day", "7 days", "30 days", "90 days", "1 year", "5 years"].map((s) => (
          <option key={s} value={s} />
        ))}
      </datalist>
    </div>
  );
}

const percentile = /^(rate:)?[1-9]\d?pct$/;
const named = /^(increase|resets|(rate:)?(mean|min|max|sum|count|std|first|last|median|nunique|[1-9]\d?pct))$/;
const fold = /^(difference|sum\(x\*x\)|(count|share)_(above|below)\([-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\))$/;
const known = (m: string) => named.test(m) || fold.test(m);

function Methods({ draft, edit }: { draft: Draft; edit: Edit }) {
  const [typed, setTyped] = useState("");
  const extra = draft.methods.filter((m) => !usual.includes(m)),
    many = extra.length > 24;
  const shown = [...usual, ...(many ? extra.slice(0, 24) : extra)];
  const toggle = (m: string) =>
    edit({ methods: draft.methods.includes(m) ? draft.methods.filter((o) => o !== m) : [...draft.methods, m] });
  const add = () => {
    const m = typed.trim();
    if (known(m) && !draft.methods.includes(m)) edit({ methods: [...draft.methods, m] });
    setTyped("");
  };
  return (
    <div role="group" aria-label="Aggregation methods">
      <p class="label">Aggregation methods</p>
      <div class="chips">
        {shown.map((m) => (
          <button type="button" key={m} aria-pressed={draft.methods.includes(m)} onClick={() => toggle(m)}>
            {m}
          </button>
        ))}
        {many && <span class="hint">and {extra.length - 24} more</span>}
        <input
          aria-label="Another aggregation method"
          placeholder="90pct, share_above(90)"
          size={20}
          value={typed}
          aria-invalid={typed !== "" && !known(typed.trim()) && !percentile.test(typed)}
          onInput={(e) => setTyped(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter") {
              e.preventDefault();
              add();
            }
          }}
          onBlur={() => known(typed.trim()) && add()}
        />
      </div>
    </div>
  );
}

const bytes = (v: number) => show(v, "bytes", 3);
const few = 60; // aggregates, of which the head of a split takes a large share
const signed = (v: number) => (v > 0 ? "+" : v < 0 ? "−" : "±") + bytes(Math.abs(v));

// Comparison sets what a policy costs now beside what it would cost, full.
function Comparison({
  now,
  then,
  metrics,
  edited,
  like,
  policy,
  faded,
}: {
  now: Cost | null;
  then: Cost;
  metrics: number;
  edited: boolean;
  like: string;
  policy?: string;
  faded: boolean;
}) {
  const compared = now && edited ? now : null,
    silent = then.silent === then.sampled;
  const spans = [
    ...new Set([...(compared?.granularities ?? []), ...then.granularities].map((g) => g.granularity)),
  ].sort((a, b) => timespan(a) - timespan(b));
  const value = (c: Cost | null, span: string) => c?.granularities.find((g) => g.granularity === span);
  const size = (c: Cost | null, span: string) => {
    const g = value(c, span);
    return g ? (g.bytes ?? 365 * g.bytes_per_day) : 0;
  };
  const most = Math.max(
    1,
    then.raw_bytes,
    compared?.raw_bytes ?? 0,
    ...spans.flatMap((s) => [size(then, s), size(compared, s)]),
  );
  const told = (c: Cost | null, span: string) => {
    const g = value(c, span);
    return !g ? "–" : g.bytes === null ? bytes(g.bytes_per_day) + " a day" : bytes(g.bytes);
  };
  const bar = (
    what: string,
    was: number,
    is: number,
    wasText: string,
    isText: string,
    detail: string,
    data: Record<string, unknown>,
  ) => (
    <div class="cost-row" key={what} {...data}>
      <span class="what">
        <b>{what}</b>
        <small>{detail}</small>
      </span>
      <span class="bars" aria-hidden="true">
        {compared && <i class="was" style={{ width: (100 * was) / most + "%" }} />}
        <i style={{ width: (100 * is) / most + "%" }} />
      </span>
      <span class="number">
        {compared && <small>{wasText}</small>}
        <b>{isText}</b>
      </span>
    </div>
  );
  return (
    <div class={faded ? "faded" : undefined}>
      <dl class="figures">
        <div class="figure">
          <dt>A metric, when full</dt>
          <dd id="bytes" data-value={then.bytes}>
            {silent ? "–" : bytes(then.bytes)}
          </dd>
          <dd class="about">
            {compared && !silent
              ? `${bytes(compared.bytes)} now, ${signed(then.bytes - compared.bytes)}`
              : then.bytes_per_day > 0
                ? `and ${bytes(then.bytes_per_day)} a day`
                : "raw series included"}
          </dd>
        </div>
        {metrics > 0 && (
          <div class="figure">
            <dt>All {count(metrics, "metric")}</dt>
            <dd id="all-bytes" data-value={metrics * then.bytes}>
              {silent ? "–" : bytes(metrics * then.bytes)}
            </dd>
            <dd class="about">
              {compared && !silent
                ? signed(metrics * (then.bytes - compared.bytes))
                : then.bytes_per_day > 0
                  ? `and ${bytes(metrics * then.bytes_per_day)} a day`
                  : "when full"}
            </dd>
          </div>
        )}
        <div class="figure">
          <dt>Measures a day</dt>
          <dd id="measures" data-value={then.measures_per_day}>
            {show(then.measures_per_day)}
          </dd>
          <dd class="about">of a metric</dd>
        </div>
        <div class="figure">
          <dt>On disk now</dt>
          <dd id="stored" data-value={then.stored_bytes}>
            {then.stored_bytes || !then.metrics || silent ? bytes(then.stored_bytes) : "none yet"}
          </dd>
          <dd class="about">{then.stored_bytes || silent ? "of a metric" : "written in some minutes"}</dd>
        </div>
      </dl>
      <div class="cost-rows" role="group" aria-label="Bytes of a metric by granularity, when full">
        {compared && (
          <p class="legend">
            <i class="was" /> now <i /> then, of a metric
          </p>
        )}
        {spans.map((s) => {
          const g = value(then, s);
          return bar(
            spell(timespan(s)),
            size(compared, s),
            size(then, s),
            told(compared, s),
            told(then, s),
            !g
              ? "removed"
              : g.measured_aggregates
                ? `${show(g.aggregates_per_day)} a day × ${show(g.bytes_per_aggregate, "", 3)} B${g.measured_on !== s ? `, as ${spell(timespan(g.measured_on!))} has` : ""}${g.measured_aggregates < few ? `: only ${g.measured_aggregates} measured` : ""}`
                : "not measured",
            {
              "data-granularity": timespan(s),
              "data-bytes": g?.bytes ?? "",
              "data-each": g?.bytes_per_aggregate ?? "",
            },
          );
        })}
        {bar(
          "raw series",
          compared?.raw_bytes ?? 0,
          then.raw_bytes,
          bytes(compared?.raw_bytes ?? 0),
          bytes(then.raw_bytes),
          "takes late measures",
          { "data-raw": then.raw_bytes },
        )}
      </div>
      <p class="hint">
        {silent
          ? `None of the metrics of ${like} that were looked at has measures of late: this says nothing.`
          : `Estimated from ${then.sampled < then.metrics ? `${then.sampled} of ` : ""}${count(then.metrics, "metric")} of ${like === policy ? "this policy" : like}: their newest aggregates, encoded as this policy keeps them.`}
        {then.silent > 0 && !silent && ` ${then.silent} of them have no measures of late, and count with nothing.`}
        {then.assumed_aggregation_methods.length > 0 &&
          ` Nothing is kept of ${then.assumed_aggregation_methods.slice(0, 6).join(", ")}${then.assumed_aggregation_methods.length > 6 ? " and others" : ""}: their size is assumed.`}
      </p>
    </div>
  );
}

const sources = { stored: "kept", moments: "put together", raw: "from measures" };

// History tells of each granularity what of its past there will be, and from what.
function History({ preview, faded }: { preview: Preview; faded: boolean }) {
  const groups = new Map<string, Map<string, string[]>>();
  for (const a of preview.aggregates) {
    const ways = groups.get(a.granularity) ?? new Map<string, string[]>();
    const way = JSON.stringify([a.from, a.of_granularity, a.reaches_back]);
    ways.set(way, [...(ways.get(way) ?? []), a.aggregation_method]);
    groups.set(a.granularity, ways);
  }
  const words = (text: string | null) =>
    text === null ? "as far as there is any" : timespan(text) === 0 ? "" : "up to " + spell(timespan(text)) + " back";
  return (
    <div class={faded ? "history faded" : "history"} id="history">
      <h3>What becomes of the past</h3>
      {(preview.removed_granularities.length > 0 || preview.removed_aggregation_methods.length > 0) && (
        <p class="notice bad">
          Lost for good:{" "}
          {[
            ...preview.removed_granularities.map((g) => "all aggregates of " + spell(timespan(g))),
            ...(preview.removed_aggregation_methods.length
              ? ["all of " + preview.removed_aggregation_methods.join(", ")]
              : []),
          ].join("; ")}
          .
        </p>
      )}
      <dl class="past">
        {[...groups].map(([granularity, ways]) => [
          <dt key={granularity}>{spell(timespan(granularity))}</dt>,
          <dd key={granularity + "="}>
            {[...ways].map(([way, methods]) => {
              const [from, of, reach] = JSON.parse(way) as [keyof typeof sources, string | null, string | null];
              return (
                <p key={way} data-from={from} data-granularity={timespan(granularity)} data-methods={methods.join()}>
                  <span class={"tag " + from}>{sources[from]}</span>{" "}
                  {methods.length > 12 ? `${count(methods.length, "method")}` : methods.join(", ")}
                  <small>
                    {from === "stored"
                      ? `is there, ${words(reach)}`
                      : from === "moments"
                        ? `from aggregates of ${spell(timespan(of!))}, ${words(reach)}`
                        : words(reach)
                          ? `from measures kept for late ones, ${words(reach)}; nothing of before`
                          : "nothing of before: begins with the open block"}
                  </small>
                </p>
              );
            })}
          </dd>,
        ])}
      </dl>
    </div>
  );
}
