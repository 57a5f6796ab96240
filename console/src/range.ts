import { moment } from "./format";
import { route } from "./router";

// A Range is what the address says of time: from and to, in seconds since 1970. It is live if it ends now, or a span
// before now.
export interface Range {
  from: number;
  to: number;
  live: boolean;
  span: number;
}

export const spans: [string, number][] = [
  ["5m", 300],
  ["10m", 600],
  ["1h", 3600],
  ["6h", 21600],
  ["1d", 86400],
  ["7d", 604800],
  ["30d", 2592000],
  ["1y", 31536000],
];

// timeOf reads one time: seconds since 1970, "now", "now-10m", "14:00" of today, "2026-11-24", "2026-11-24 14:00", or
// the same in ISO 8601. A time without a zone is one of the reader's. It returns NaN for anything else.
export function timeOf(text: string, now: number, zone = zoneOf()): number {
  text = text.trim();
  if (/^\d{6,}(\.\d+)?$/.test(text)) return +text;
  const relative = /^now(?:\s*([-+])\s*(\S+))?$/.exec(text);
  if (relative) return now + (relative[2] ? (relative[1] === "-" ? -1 : 1) * spanOf(relative[2]) : 0);
  const today = moment(now, zone).slice(0, 10);
  const parts = /^(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?(?:(\d{1,2}:\d\d)(:\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?$/.exec(text);
  if (!parts || !(parts[1] || parts[2])) return NaN;
  const written = `${parts[1] ?? today}T${(parts[2] ?? "00:00").padStart(5, "0")}${parts[3] ?? ":00"}`;
  if (parts[4]) return Date.parse(written + parts[4]) / 1000;
  const wall = Date.parse(written + "Z") / 1000;
  let time = wall;
  for (let i = 0; i < 2; i++) time = wall - (Date.parse(moment(time, zone).replace(" ", "T") + "Z") / 1000 - time);
  return time;
}

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800, y: 31536000 };

// spanOf reads a duration such as 90m or 1h30m, in seconds, else NaN.
export function spanOf(text: string): number {
  if (!/^(\d+[smhdwy])+$/.test(text)) return NaN;
  return [...text.matchAll(/(\d+)([smhdwy])/g)].reduce((sum, [, n, unit]) => sum + +n * units[unit], 0);
}

// readRange returns the time that the address names. Standard is the span of an address that names none.
export function readRange(params: URLSearchParams, standard = 300, now = Date.now() / 1000): Range {
  const first = params.get("from") ?? "",
    last = params.get("to");
  const span = spanOf(first);
  const from = span > 0 ? now - span : timeOf(first, now),
    to = last && !(span > 0) ? timeOf(last, now) : now;
  const live = params.get("live") !== "0" && (!last || /^now/.test(last));
  if (!(from < to)) return { from: now - standard, to: now, live, span: standard };
  return { from, to, live, span: to - from };
}

// endsFreely reports whether the address leaves open when its time ends: where measures ended earlier, there.
export const endsFreely = (params: URLSearchParams) =>
  !params.has("from") || (spanOf(params.get("from")!) > 0 && !params.has("to"));

// refreshEvery is how many seconds a live chart waits: those of the address, else as many as suit it.
export const refreshEvery = (params: URLSearchParams, suits: number) => +(params.get("live") ?? 0) || suits;

const zones = new Map([["UTC", "UTC"]]);

// localZone is the name of the browser's time zone.
export const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

// zoneOf is the time zone that the address names, else "", which is the browser's.
export function zoneOf(): string {
  const zone = route.get().params.get("tz");
  if (!zone) return "";
  if (!zones.has(zone)) {
    try {
      new Intl.DateTimeFormat("en", { timeZone: zone });
      zones.set(zone, zone);
    } catch {
      zones.set(zone, "");
    }
  }
  return zones.get(zone)!;
}

// A Window is the time that is marked on a chart.
export interface Window {
  from: number;
  to: number;
}

export function readWindow(params: URLSearchParams): Window | null {
  const [from, to] = (params.get("w") ?? "").split("-").map(Number);
  return from < to ? { from, to } : null;
}
