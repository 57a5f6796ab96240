import type { ComponentChildren } from "preact";
import { moment } from "./format";
import { spans, zoneOf, type Range } from "./range";
import { change, route } from "./router";

// RangeBar chooses the time that is shown.
export function RangeBar({
  range,
  standard = "5m",
  children,
}: {
  range: Range;
  standard?: string;
  children?: ComponentChildren;
}) {
  const { params } = route.use();
  const from = params.get("to") ? "" : (params.get("from") ?? standard),
    zone = zoneOf();
  const move = (share: number) =>
    change({
      from: String(Math.floor(range.from + share * range.span)),
      to: String(Math.ceil(range.to + share * range.span)),
    });
  return (
    <div class="bar" role="group" aria-label="Time">
      <div class="group">
        {spans.map(([name]) => (
          <button
            type="button"
            key={name}
            aria-pressed={from === name}
            onClick={() => change({ from: name, to: null, live: null })}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="group">
        <button type="button" aria-label="Earlier" title="Earlier" onClick={() => move(-0.5)}>
          ‹
        </button>
        <button type="button" aria-label="Later" title="Later" onClick={() => move(0.5)}>
          ›
        </button>
        <button
          type="button"
          onClick={() =>
            change({
              from: String(Math.floor(range.from - range.span / 2)),
              to: String(Math.ceil(range.to + range.span / 2)),
            })
          }
        >
          Zoom out
        </button>
      </div>
      {from && (
        <button type="button" aria-pressed={range.live} onClick={() => change({ live: range.live ? "0" : null })}>
          Live
        </button>
      )}
      {!from && (
        <span class="hint mono">
          {moment(range.from, zone)} – {moment(range.to, zone)}
        </span>
      )}
      <span class="grow" />
      {children}
    </div>
  );
}
