import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { duration, moment } from "./format";
import { spans, zoneOf, type Range } from "./range";
import { lazy, parts } from "./lazy";
import { change, route } from "./router";

const SaveView = lazy(() => parts().then((m) => m.SaveView));

const refreshes: [string, string][] = [
  ["", "Live"],
  ["5", "every 5 s"],
  ["30", "every 30 s"],
  ["60", "every min"],
  ["300", "every 5 min"],
  ["0", "Paused"],
];

// writtenOf is a time as people write it.
export function writtenOf(range: { from: number; to: number }): string {
  const [from, to] = [range.from, range.to].map((t) => moment(t, zoneOf()));
  return `${from} to ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}`;
}

// RangeBar chooses the time that is shown. A phone has one row, whose first button says the time and opens the rest.
export function RangeBar({ range, all, children }: { range: Range; all?: boolean; children?: ComponentChildren }) {
  const { page, params } = route.use();
  const named = params.get("from") ?? spans.find(([, span]) => span === range.span)?.[0];
  const move = (share: number, by = share) =>
    change({
      from: String(Math.floor(range.from + share * range.span)),
      to: String(Math.ceil(range.to + by * range.span)),
    });
  const [saves, setSaves] = useState(false),
    [open, setOpen] = useState(false);
  return (
    <>
      <div class={open ? "bar" : "bar short"} role="group" aria-label="Time">
        <button type="button" class="window" aria-expanded={open} onClick={() => setOpen(!open)}>
          {range.live ? "Last " + duration(Math.round(range.span)) : writtenOf(range).replace(/:\d\d(?= |$)/g, "")}
        </button>
        <div class="group">
          {[...spans, ...(all ? [["all"] as const] : [])].map(([name]) => (
            <button
              type="button"
              key={name}
              aria-pressed={!params.get("to") && named === name}
              onClick={() => {
                setOpen(false);
                change({ from: name, to: null });
              }}
            >
              {name === "all" ? "All" : name}
            </button>
          ))}
        </div>
        <div class="group arrows">
          <button type="button" aria-label="Earlier" title="Earlier" onClick={() => move(-0.5)}>
            ‹
          </button>
          <button type="button" aria-label="Later" title="Later" onClick={() => move(0.5)}>
            ›
          </button>
          <button type="button" onClick={() => move(-0.5, 0.5)}>
            Zoom out
          </button>
        </div>
        <Times range={range} />
        {range.live || params.get("live") === "0" ? (
          <select
            aria-label="Refresh"
            value={params.get("live") ?? ""}
            onChange={(e) => change({ live: e.currentTarget.value || null })}
          >
            {refreshes.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        ) : null}
        <span class="grow" />
        <span class="aside">
          {children}
          {page !== "boards" && (
            <button
              type="button"
              aria-pressed={saves}
              title="Put this view on a board"
              onClick={() => setSaves(!saves)}
            >
              Save
            </button>
          )}
        </span>
      </div>
      {saves && <SaveView onDone={() => setSaves(false)} />}
    </>
  );
}

// Times is the field of the time that is shown, to read and to type.
function Times({ range }: { range: Range }) {
  const { params } = route.use();
  const [typed, setTyped] = useState<string | null>(null),
    [wrong, setWrong] = useState(false);
  const relative = params.get("from")?.startsWith("now")
    ? params.get("from")! + (params.get("to") ? " to " + params.get("to")! : "")
    : "";
  const submit = (e: Event) => {
    e.preventDefault();
    if (typed === null) return;
    void parts().then(({ parseTimes }) => {
      const times = parseTimes(typed);
      setWrong(!times);
      if (!times) return;
      setTyped(null);
      change(times);
    });
  };
  return (
    <form class="times" onSubmit={submit}>
      <input
        aria-label="Time"
        class="mono"
        size={42}
        value={typed ?? (relative || writtenOf(range))}
        aria-invalid={wrong}
        title="2026-11-24 14:00 to 15:00, yesterday 14:00 to 15:00, now-10m, now-2h to now-1h, 90m, 2026-11-24: Enter shows it"
        onInput={(e) => setTyped(e.currentTarget.value)}
        onFocus={(e) => e.currentTarget.select()}
        onBlur={() => {
          setTyped(null);
          setWrong(false);
        }}
      />
      {wrong && (
        <span class="hint bad" role="alert">
          Write 2026-11-24 14:00 to 15:00, or now-10m
        </span>
      )}
    </form>
  );
}
