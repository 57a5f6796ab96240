// Files of rows: what separates their cells, which column has the times, and what the others hold. It knows no server.

import { count } from "./format";

export interface Sheet {
  header: string[];
  rows: string[][]; // without the header
  lines: number[]; // at which the rows begin
  delimiter: string;
}

const delimiters = [",", ";", "\t", "|"];

// cells parts a text as RFC 4180 says, at most so many lines of it.
function cells(text: string, delimiter: string, most = Infinity): { rows: string[][]; lines: number[] } {
  const rows: string[][] = [],
    lines: number[] = [];
  let row: string[] = [],
    at = 0,
    line = 1,
    begins = 1;
  while (at < text.length && rows.length < most) {
    let cell: string;
    if (text[at] === '"') {
      let end = at + 1;
      for (;;) {
        end = text.indexOf('"', end);
        if (end < 0) end = text.length;
        if (text[end + 1] !== '"') break;
        end += 2;
      }
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      line += cell.split("\n").length - 1;
      at = endOf(text, end + 1, delimiter);
    } else {
      const begin = at;
      at = endOf(text, begin, delimiter);
      cell = text.slice(begin, at);
    }
    row.push(cell.trim());
    if (text[at] === delimiter) {
      at++;
      if (at < text.length && text[at] !== "\n" && text[at] !== "\r") continue;
      row.push(""); // behind the last delimiter of a line
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at++;
    at++;
    if (row.some(Boolean)) {
      rows.push(row);
      lines.push(begins);
    }
    row = [];
    begins = ++line;
  }
  return { rows, lines };
}

// endOf is where a cell ends that goes on at a place.
function endOf(text: string, at: number, delimiter: string): number {
  while (at < text.length && text[at] !== delimiter && text[at] !== "\n" && text[at] !== "\r") at++;
  return at;
}

// readSheet parts a file whose first row names its columns, unless that has a time and numbers. Above it may be what
// Excel writes about the delimiter, and comments.
export function readSheet(text: string): Sheet {
  const head = text.slice(0, 1 << 16),
    said = /^sep=(.)\r?\n/i.exec(head)?.[1];
  const [delimiter] = (said ? [said] : delimiters)
    .map((d) => {
      const widths = cells(head, d, 50).rows.map((row) => row.length),
        usual = Math.max(...widths, 1);
      return [d, usual > 1 ? widths.filter((w) => w === usual).length * usual : 0] as const;
    })
    .sort((a, b) => b[1] - a[1])[0];
  const { rows, lines } = cells(text, delimiter),
    above = said ? 1 : 0,
    begin =
      above +
      Math.max(
        0,
        rows.slice(above).findIndex(([cell]) => !cell.startsWith("#")),
      ),
    first = rows[begin] ?? [],
    isTime = (cell: string) => forms.some((form) => fits(form, cell)),
    named = !first.some(isTime) || !first.every((c) => isGap(c) || isTime(c) || !Number.isNaN(number(c, ","))),
    skipped = begin + (named ? 1 : 0);
  rows.splice(0, skipped);
  lines.splice(0, skipped);
  const names = first.map((name, i) => (named && name.replaceAll("/", "_")) || `column ${i + 1}`); // as metrics may be called
  const header = names.map((n, i) => (names.indexOf(n) < i ? `${n} ${i + 1}` : n));
  joinTimes(header, rows);
  return { header, rows, lines, delimiter };
}

// joinTimes makes one column of one with dates and one with times of day.
function joinTimes(header: string[], rows: string[][]) {
  const are = (i: number, is: (cell: string) => boolean) => {
    const known = rows.slice(0, 200).flatMap((r) => (isGap(r[i]) ? [] : [r[i]]));
    return known.length > 0 && known.every(is);
  };
  const day = header.findIndex((_, i) => are(i, (c) => !c.includes(":") && forms.some((f) => f.fields?.(c)))),
    time = header.findIndex((_, i) => are(i, (c) => /^\d{1,2}:\d\d(:\d\d([.,]\d+)?)?(\s*[AP]M)?$/i.test(c)));
  if (day < 0 || time < 0) return;
  header[day] += " " + header[time];
  header.splice(time, 1);
  for (const row of rows) {
    row[day] = `${row[day] ?? ""} ${row[time] ?? ""}`.trim();
    row.splice(time, 1);
  }
}

const gaps = new Set(["", "-", "na", "n/a", "nan", "null", "none", "#n/a"]);
export const isGap = (cell = "") => gaps.has(cell.toLowerCase());

export type Decimal = "." | ",";

// number reads a cell; NaN of what is none.
export function number(cell: string, decimal: Decimal): number {
  const text = decimal === "," ? cell.replace(/\.(?=\d{3}(\D|$))/g, "").replace(",", ".") : cell;
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) && isFinite(+text) ? Number(text) : NaN;
}

// A Form is how times are written: fields returns year, month, day, hour, minute, second and, where the text says it,
// the offset from UTC in minutes; or it is a unit of seconds since 1970.
export interface Form {
  name: string;
  unit?: number;
  fields?: (cell: string) => number[] | null;
}

const clock = String.raw`(?:[T ,]+(\d{1,2}):(\d\d)(?::(\d\d(?:[.,]\d+)?))?\s*([AP]M)?)?`,
  zonePart = String.raw`\s*(Z|UTC|[-+]\d\d:?\d\d)?$`;

const dated = (name: string, date: string, order: [number, number, number]): Form => {
  const pattern = new RegExp("^" + date + clock + zonePart, "i");
  return {
    name,
    fields(cell) {
      const m = pattern.exec(cell);
      if (!m) return null;
      const [year, month, day] = order.map((i) => Number(m[i]));
      let hour = Number(m[4] ?? 0);
      if (m[7]) hour = (hour % 12) + (m[7].toUpperCase() === "PM" ? 12 : 0);
      const whole = new Date(Date.UTC(year, month - 1, day));
      if (whole.getUTCMonth() !== month - 1 || whole.getUTCDate() !== day || hour > 24) return null;
      const zone = m[8] && /^([-+])(\d\d):?(\d\d)$/.exec(m[8]),
        offset = zone ? Number(zone[1] + "1") * (60 * Number(zone[2]) + Number(zone[3])) : 0;
      const second = Number((m[6] ?? "0").replace(",", "."));
      return [year, month, day, hour, Number(m[5] ?? 0), second, ...(m[8] ? [offset] : [])];
    },
  };
};

const since = (name: string, unit: number): Form => ({ name, unit });

export const forms: Form[] = [
  dated("2026-12-31 23:59:59", String.raw`(\d{4})-(\d{1,2})-(\d{1,2})`, [1, 2, 3]),
  dated("2026/12/31 23:59:59", String.raw`(\d{4})/(\d{1,2})/(\d{1,2})`, [1, 2, 3]),
  dated("31.12.2026 23:59:59", String.raw`(\d{1,2})\.(\d{1,2})\.(\d{4})`, [3, 2, 1]),
  dated("12/31/2026 23:59:59", String.raw`(\d{1,2})/(\d{1,2})/(\d{4})`, [3, 1, 2]),
  dated("31/12/2026 23:59:59", String.raw`(\d{1,2})/(\d{1,2})/(\d{4})`, [3, 2, 1]),
  since("seconds since 1970", 1),
  since("milliseconds since 1970", 1e-3),
  since("microseconds since 1970", 1e-6),
  since("nanoseconds since 1970", 1e-9),
];

// fits reports whether a cell is a time of a form, from 1990 to 2100 where it is a number.
function fits(form: Form, cell: string): boolean {
  if (form.fields) return form.fields(cell) !== null;
  const seconds = number(cell, ".") * form.unit!;
  return seconds > 631e6 && seconds < 4.1e9;
}

// formsOf are the forms that most times of a column have: several, where it is ambiguous.
export function formsOf(column: string[]): Form[] {
  const known = column.filter((cell) => !isGap(cell)).slice(0, 2000),
    counts = forms.map((form) => known.filter((cell) => fits(form, cell)).length),
    most = Math.max(...counts);
  return most > known.length / 2 ? forms.filter((_, i) => counts[i] === most) : [];
}

// timeColumn is the number of the column that has the times: one of that name, else the first of dates, else the first
// of seconds since 1970.
export function timeColumn({ header, rows }: Sheet): number {
  const are = header.map((_, i) => formsOf(rows.slice(0, 200).map((r) => r[i] ?? ""))),
    find = (is: (forms: Form[], i: number) => boolean) => are.findIndex((f, i) => f.length > 0 && is(f, i));
  const found = [
    find((_, i) => /^(time|timestamp|date|datetime|date_?time)\b/i.test(header[i])),
    find((forms) => forms.some((f) => f.fields)),
    find(() => true),
  ];
  return found.find((i) => i >= 0) ?? -1;
}

// decimalOf is how a sheet writes fractions: by a comma only if something is written so.
export function decimalOf({ rows, delimiter }: Sheet): Decimal {
  if (delimiter === ",") return ".";
  const all = rows.slice(0, 2000).flat();
  return all.some((c) => /^[-+]?[\d.]*,\d+$/.test(c)) && !all.some((c) => /^[-+]?\d+\.\d{1,2}$/.test(c)) ? "," : ".";
}

// A Clock makes seconds since 1970 of fields, in their order.
export type Clock = (cell: string) => number;

// clockOf reads times of a form in a zone. A time that the zone skips is NaN. One that it has twice is the first that
// is later than the time before.
export function clockOf(form: Form, zone: string): Clock {
  if (form.unit !== undefined) return (cell) => number(cell, ".") * form.unit!;
  const offset = offsets(zone);
  let last = -Infinity;
  return (cell) => {
    const f = form.fields!(cell);
    if (!f) return NaN;
    const local = Date.UTC(f[0], f[1] - 1, f[2], f[3], f[4]) / 1000 + f[5];
    if (f.length > 6) return local - 60 * f[6];
    const could = [...new Set([offset(local - 86400), offset(local + 86400)])]
      .map((o) => local - o)
      .filter((t) => t + offset(t) === local)
      .sort((a, b) => a - b);
    if (!could.length) return NaN;
    return (last = could.find((t) => t > last) ?? could[0]);
  };
}

// offsets says how far the clocks of a zone are ahead of UTC, in seconds. Zones change at full quarters of hours.
function offsets(zone: string): (seconds: number) => number {
  if (zone === "UTC") return () => 0;
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }),
    known = new Map<number, number>();
  return (seconds) => {
    const quarter = Math.floor(seconds / 900);
    let found = known.get(quarter);
    if (found === undefined)
      known.set(
        quarter,
        (found = Date.parse(format.format(quarter * 900_000).replace(" ", "T") + "Z") / 1000 - quarter * 900),
      );
    return found;
  };
}

// Columns are the measures of a sheet in the order of time, and the lines that have none.
export interface Measures {
  times: Float64Array; // in seconds, ascending
  values: Map<string, Float64Array>; // by column; NaN is a gap
  measures: number;
  repeated: number; // rows whose time another row has: the last counts
  rejected: { line: number; why: string }[];
}

// measuresOf reads the columns of a sheet. Rows of one time are one: for each column the last value counts.
export function measuresOf(
  { header, rows, lines }: Sheet,
  time: number,
  clock: Clock,
  columns: number[],
  decimal: Decimal,
): Measures {
  const rejected: Measures["rejected"] = [],
    at = new Float64Array(rows.length),
    read: Float64Array[] = columns.map(() => new Float64Array(rows.length).fill(NaN));
  rows.forEach((row, i) => {
    at[i] = clock(row[time] ?? "");
    if (!(at[i] >= 0)) {
      rejected.push({ line: lines[i], why: `no time: ${row[time] ?? ""}` });
      return;
    }
    if (row.slice(header.length).some(Boolean))
      rejected.push({ line: lines[i], why: `${count(row.length, "cell")} in ${count(header.length, "column")}` });
    columns.forEach((column, c) => {
      const cell = row[column] ?? "";
      if (isGap(cell)) return;
      const value = (read[c][i] = number(cell, decimal));
      if (value !== value) rejected.push({ line: lines[i], why: `${header[column]} is no number: ${cell}` });
    });
  });
  const order = [...rows.keys()].filter((i) => at[i] >= 0).sort((a, b) => at[a] - at[b] || a - b);
  const times = new Float64Array(order.length),
    values = columns.map(() => new Float64Array(order.length).fill(NaN));
  let n = 0,
    measures = 0,
    repeated = 0;
  for (const i of order) {
    const again = n > 0 && times[n - 1] === at[i];
    if (!again) times[n++] = at[i];
    else repeated++;
    columns.forEach((_, c) => {
      if (read[c][i] !== read[c][i]) return;
      if (values[c][n - 1] !== values[c][n - 1]) measures++;
      values[c][n - 1] = read[c][i];
    });
  }
  return {
    times: times.subarray(0, n),
    values: new Map(columns.map((column, c) => [header[column], values[c].subarray(0, n)])),
    measures,
    repeated,
    rejected,
  };
}

// textOf reads a file in its encoding.
export async function textOf(file: Blob): Promise<string> {
  const content = await file.arrayBuffer(),
    head = new Uint8Array(content.slice(0, 2));
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder("utf-16le").decode(content);
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder("utf-16be").decode(content);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return new TextDecoder("windows-1252").decode(content);
  }
}
