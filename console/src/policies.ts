import { read, request } from "./api";
import { timespan } from "./format";
import { costPath, policiesPath } from "./paths";

// What the API says of archive policies, and what an editor makes of them.

export interface APIPolicy {
  name: string;
  back_window: number;
  aggregation_methods: string[];
  definition: { granularity: string; points: number | null; timespan: string | null }[];
}

// Cost is of one metric, but for the first three.
export interface Cost {
  metrics: number;
  sampled: number;
  silent: number;
  measures_per_day: number;
  stored_bytes: number;
  raw_bytes: number;
  bytes: number;
  bytes_per_day: number;
  granularities: GranularityCost[];
  assumed_aggregation_methods: string[];
}
export interface GranularityCost {
  granularity: string;
  points: number | null;
  aggregates_per_day: number;
  bytes_per_aggregate: number;
  bytes: number | null;
  bytes_per_day: number;
  stored_bytes: number;
  measured_on: string | null;
  measured_aggregates: number;
}

export interface Preview {
  metrics: number;
  aggregates: {
    granularity: string;
    aggregation_method: string;
    from: "stored" | "moments" | "raw";
    of_granularity: string | null;
    reaches_back: string | null;
  }[];
  removed_granularities: string[];
  removed_aggregation_methods: string[];
}

// Draft is a policy as it is edited: spans in seconds, null for no limit, as they are typed.
export interface Item {
  granularity: string;
  timespan: string;
}
export interface Draft {
  items: Item[];
  methods: string[];
  back: number;
}

export const draftOf = (p: APIPolicy): Draft => ({
  items: p.definition.map((d) => ({
    granularity: spell(timespan(d.granularity)),
    timespan: d.timespan === null ? "" : spell(timespan(d.timespan)),
  })),
  methods: p.aggregation_methods,
  back: p.back_window,
});

const units: [RegExp, number, string][] = [
  [/^(y|years?)$/, 31536000, "year"],
  [/^(w|weeks?)$/, 604800, ""],
  [/^(d|days?)$/, 86400, "day"],
  [/^(h|hours?)$/, 3600, "h"],
  [/^(m|min|minutes?)$/, 60, "min"],
  [/^(s|seconds?|)$/, 1, "s"],
  [/^(ms|milliseconds?)$/, 0.001, ""],
];

// spell writes seconds so that parseSpan reads the same.
export function spell(seconds: number): string {
  for (const [, size, name] of units) {
    const n = seconds / size;
    if (name && size >= 1 && Number.isInteger(n) && n > 0)
      return n + " " + name + (size >= 86400 && n !== 1 ? "s" : "");
  }
  return seconds + " s";
}

// parseSpan reads seconds of words such as "5 min"; NaN of what is none.
export function parseSpan(text: string): number {
  const parts = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  const unit = parts && units.find(([words]) => words.test(parts[2].toLowerCase()));
  return unit ? Number(parts![1]) * unit[1] : NaN;
}

// bodyOf is what the API is sent of a draft, or why it cannot be.
export function bodyOf(draft: Draft): { body?: Record<string, unknown>; wrong?: string } {
  const definition: Record<string, number>[] = [];
  for (const item of draft.items) {
    const granularity = parseSpan(item.granularity),
      span = item.timespan.trim() ? parseSpan(item.timespan) : null;
    if (!(granularity > 0))
      return { wrong: `“${item.granularity}” is no granularity: write a number and s, min, h or days` };
    if (span !== null && !(span >= granularity))
      return {
        wrong: `“${item.timespan}” is no timespan: write a number and min, h, days or years, or nothing for no limit`,
      };
    definition.push(span === null ? { granularity } : { granularity, timespan: span });
  }
  if (!definition.length) return { wrong: "A policy has one granularity at least" };
  if (!draft.methods.length) return { wrong: "A policy has one aggregation method at least" };
  return { body: { definition, back_window: draft.back, aggregation_methods: draft.methods } };
}

// A draft in the address: "1:86400,60:" "mean,max" "3".
export const draftParams = (d: Draft) => ({
  def: d.items.map((i) => i.granularity + ":" + i.timespan).join(),
  methods: d.methods.join(),
  back: String(d.back),
});

export function readDraft(params: URLSearchParams, standard: Draft): Draft {
  const def = params.get("def"),
    methods = params.get("methods"),
    back = params.get("back");
  return {
    items:
      def === null
        ? standard.items
        : def === ""
          ? []
          : def.split(",").map((i) => {
              const [granularity, timespan = ""] = i.split(":");
              return { granularity, timespan };
            }),
    methods: methods === null ? standard.methods : methods.split(",").filter(Boolean),
    back: back === null || !/^\d+$/.test(back) ? standard.back : Number(back),
  };
}

const path = (name: string) => policiesPath + "/" + encodeURIComponent(name);
export const listPolicies = (signal: AbortSignal) => read<APIPolicy[]>(policiesPath, undefined, signal);
export const costOf = (name: string, body?: unknown, signal?: AbortSignal) => read<Cost>(costPath(name), body, signal);
export const previewOf = async (name: string, body: unknown, signal?: AbortSignal) =>
  (await (await request("PATCH", path(name) + "?rebuild=true&dry_run=true", body, signal)).json()) as Preview;
export const changePolicy = (name: string, body: unknown) => request("PATCH", path(name) + "?rebuild=true", body);
export const createPolicy = (body: unknown) => request("POST", "/v1/archive_policy", body);
export const deletePolicy = (name: string) => request("DELETE", path(name));
