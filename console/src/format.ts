// unitOf guesses from a metric's name how its values are to be read.
// Units that are not known stand behind the values as senders write them.
export type Unit = string;
export const allUnits: Unit[] = ["bytes", "percent", "ratio", "seconds", "time", "bytes/s", "/s"];

// perSecond is the unit of a counter's rate. Seconds of a second are a number.
export const perSecond = (unit: Unit): Unit => (unit === "seconds" || unit === "time" ? "" : unit + "/s");

export function unitOf(name: string, unit?: string | null): Unit {
  const text = (unit ?? "") + " " + name;
  if (/_(count|bucket)$/.test(name)) return ""; // observations, whatever is observed
  if (/byte/i.test(text) || unit === "B") return "bytes";
  if (/percent|%/i.test(text)) return "percent";
  if (/_ratio\b|^ratio /.test(text)) return "ratio";
  if (/_time(stamp)?_seconds$/.test(name)) return "time";
  if (/(?<!milli|micro|nano)seconds?(?![a-z])/i.test(text) || unit === "s") return "seconds";
  return unit ?? "";
}

const large = ["", "k", "M", "G", "T", "P", "E"];
const binary = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

function digits(value: number, significant: number): string {
  const text = value.toPrecision(significant);
  return text.includes("e") || !text.includes(".") ? String(Number(text)) : text.replace(/\.?0+$/, "");
}

// show writes a value for people.
export function show(value: number | null | undefined, unit: Unit = "", significant = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (unit.endsWith("/s")) return show(value, unit.slice(0, -2), significant) + (unit === "/s" ? " /s" : "/s");
  if (unit === "ns") return show(value / 1e9, "seconds", significant);
  if (unit === "ratio") return show(100 * value, "percent", significant);
  const size = Math.abs(Number(value.toPrecision(significant))); // 0.99999 s are no 1000 ms
  if (unit === "time") return size < 1e9 ? show(value, "seconds", significant) : moment(value, "UTC");
  if (unit === "percent") return digits(value, size >= 100 ? 3 : significant - 1) + " %";
  if (unit === "bytes") {
    let i = 0,
      v = value;
    while (Math.abs(v) >= 1024 && i < binary.length - 1) {
      v /= 1024;
      i++;
    }
    return digits(v, significant) + " " + binary[i];
  }
  if (unit === "seconds" && size > 0 && size < 1)
    return size < 1e-3 ? digits(value * 1e6, significant) + " µs" : digits(value * 1e3, significant) + " ms";
  const suffix = unit === "seconds" ? " s" : unit && " " + unit;
  if ((size !== 0 && size < 1e-3) || size >= 1e22) return value.toExponential(2) + suffix;
  let i = 0,
    v = value;
  while (Math.abs(v) >= (i ? 1000 : 10000) && i < large.length - 1) {
    v /= 1000;
    i++;
  }
  return digits(v, significant) + (i ? " " + large[i] : "") + suffix;
}

// duration writes seconds as the words of archive policies.
export function duration(seconds: number): string {
  const units: [number, string][] = [
    [31536000, "year"],
    [86400, "day"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  for (const [size, name] of units) {
    if (seconds >= size && (seconds % size === 0 || seconds >= 10 * size)) {
      const n = Math.round((seconds / size) * 10) / 10;
      return n + " " + name + (size >= 86400 && n !== 1 ? "s" : "");
    }
  }
  const left = units.find(([size]) => seconds >= size);
  return left && left[0] > 1
    ? duration(seconds - (seconds % left[0])) + " " + duration(seconds % left[0])
    : show(seconds, "seconds");
}

// timespan reads what the API writes: "1 day, 0:00:10".
export function timespan(text: string | number): number {
  if (typeof text === "number") return text;
  const parts = /^(?:(\d+) days?, )?(\d+):(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  if (!parts) return Number(text);
  return Number(parts[1] ?? 0) * 86400 + Number(parts[2]) * 3600 + Number(parts[3]) * 60 + Number(parts[4]);
}

const formats = new Map<string, Intl.DateTimeFormat>();

// moment writes a time, in seconds since 1970, as of a time zone, "" for the browser's. Intl's first use takes as long
// as all else that a page does before it is seen.
export function moment(seconds: number, zone: string): string {
  if (!zone || zone === "UTC") {
    const ahead = zone ? 0 : -60 * new Date(seconds * 1000).getTimezoneOffset();
    return new Date((seconds + ahead) * 1000).toISOString().slice(0, 19).replace("T", " ");
  }
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
    formats.set(zone, format);
  }
  return format.format(seconds * 1000);
}

// short is a text with the beginnings of its UUIDs, which have dashes or, as Keystone's, none.
export const short = (text: string) => text.replace(/\b([\da-f]{8})(-?[\da-f]{4}){3}-?[\da-f]{12}\b/gi, "$1…");

// whole writes a whole number.
export const whole = (n?: number | null) => (n == null ? "–" : String(n).replace(/\B(?=(\d{3})+$)/g, ","));

export const count = (n: number, noun: string) => whole(n) + " " + noun + (n === 1 || noun.endsWith("s") ? "" : "s");
