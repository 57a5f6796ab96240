import { moment } from "./format";
import { spanOf, timeOf, zoneOf } from "./range";

// parseTimes reads the field of times, "FROM to TO", "FROM", or a day, into parameters of the address; null if it
// cannot.
export function parseTimes(text: string, now = Date.now() / 1000): { from: string; to: string | null } | null {
  const today = Date.parse(moment(now, zoneOf()).slice(0, 10)),
    [first, last] = text
      .trim()
      .replace(/^(?:today|(yesterday))\b/, (_, before) =>
        new Date(today - (before ? 864e5 : 0)).toISOString().slice(0, 10),
      )
      .split(/\s+(?:to|until|–|-)\s+|(?<=^[^T]*:\d\d)[-–](?=\d?\d:\d\d$)/);
  if (last === undefined) {
    if (spanOf(first) > 0) return { from: first, to: null };
    if (/^now-/.test(first) && timeOf(first, now) < now) return { from: first, to: null };
    const from = timeOf(first, now);
    if (Number.isNaN(from)) return null;
    return { from: String(from), to: String(/:/.test(first) ? now : from + 86400) };
  }
  // "2026-11-24 14:00 to 15:00" is on one day.
  const day = /^\d{4}-\d\d-\d\d/.exec(first)?.[0];
  const from = timeOf(first, now),
    to = timeOf(day && /^\d{1,2}:/.test(last) ? day + " " + last : last, now);
  if (!(from < to)) return null;
  const keep = (part: string, time: number) => (part.startsWith("now") ? part.replaceAll(" ", "") : String(time));
  return { from: keep(first, from), to: last === "now" && first.startsWith("now") ? null : keep(last, to) };
}
