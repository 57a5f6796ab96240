import { route } from "./router";

// A Range is what the address says of time: from and to, in seconds since 1970. It is live if it ends now.
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

export function readRange(params: URLSearchParams, standard = "5m", now = Date.now() / 1000): Range {
  const from = params.get("from") ?? standard,
    to = params.get("to");
  const named = spans.find(([name]) => name === from);
  if (named || !to || !Number.isFinite(+from) || !Number.isFinite(+to) || +to <= +from) {
    const span = named?.[1] ?? spans.find(([name]) => name === standard)![1];
    return { from: now - span, to: now, live: params.get("live") !== "0", span };
  }
  return { from: +from, to: +to, live: false, span: +to - +from };
}

const local = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  zones = new Map<string, string>();

// zoneOf is the time zone that the address names, else the browser's.
export function zoneOf(): string {
  const zone = route.get().params.get("tz");
  if (zone === null) return local;
  if (!zones.has(zone)) {
    try {
      new Intl.DateTimeFormat("en", { timeZone: zone });
      zones.set(zone, zone);
    } catch {
      zones.set(zone, local);
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
