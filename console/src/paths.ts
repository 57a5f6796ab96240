// The addresses of what pages ask for first. start.ts uses them, too, so they import nothing.

const escape = (text: string) => text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
export const quote = (text: string) =>
  '"' + text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n") + '"';

// selector is what PromQL calls the series that people know by these words, in any case, and that have these labels:
// the name, an ID, or the value of a label holds each word.
export const selector = (text: string, labels: [string, string][]) =>
  selectorOf(
    text
      .trim()
      .split(/\s+/)
      .filter(Boolean)
      .map((w) => `__any__=~${quote("(?is).*" + escape(w) + ".*")}`),
    labels,
  );

const selectorOf = (matchers: string[], labels: [string, string][]) =>
  "{" +
  [
    ...(matchers.length || labels.some(([n]) => n === "__name__") ? matchers : ['__name__!=""']),
    ...labels.map(([name, value]) => `${name}=${quote(value)}`),
  ].join(",") +
  "}";

// beginning selects the series of which something begins with the text, or, if it is all, is the text.
export const beginning = (text: string, labels: [string, string][], all = false) =>
  selectorOf([`__any__=~${quote("(?is)" + escape(text.trim()) + (all ? "" : ".*"))}`], labels);

// Ranks of what is found, the best first.
export const exact = 0,
  prefix = 1,
  word = 2,
  inside = 3,
  nowhere = 4;

// rankOf is how well a text is what somebody typed: exactly, its beginning, words of it, or parts of these.
export function rankOf(text: string, typed: string): number {
  const has = text.toLowerCase(),
    words = typed.toLowerCase().trim().split(/\s+/).filter(Boolean);
  if (!words.length || !words.every((w) => has.includes(w))) return nowhere;
  if (has === words.join(" ")) return exact;
  if (has.startsWith(words[0])) return prefix;
  const begins = (w: string) => new RegExp("(?:^|[^\\p{L}\\p{N}])" + escape(w), "u").test(has);
  return words.every(begins) ? word : inside;
}

export const mostFound = 300;
export const seriesPath = (matches: string[], limit: number) =>
  "/api/v1/series?" +
  new URLSearchParams([...matches.map((m) => ["match[]", m]), ["limit", String(limit)], ["ids", "true"]]);
const series = (match: string, limit: number) => seriesPath([match], limit);
export const foundPath = (text: string, labels: [string, string][], most = mostFound) =>
  series(selector(text, labels), most);
export const exactPath = (text: string, labels: [string, string][]) => series(beginning(text, labels, true), mostFound);
export const chosenPath = (ids: string[]) => series(`{metric_id=~${quote(ids.map(escape).join("|"))}}`, 0);
export const ofResourcesPath = (ids: string[]) => series(`{resource_id=~${quote(ids.join("|"))}}`, 0);

// countPaths are the counts of what is found, and for each label that is filtered by those of its other values.
export const countPaths = (text: string, labels: [string, string][]) => [
  countPath(selector(text, labels), []),
  ...labels.map(([name]) =>
    countPath(
      selector(
        text,
        labels.filter(([n]) => n !== name),
      ),
      [name],
    ),
  ),
];
export const countPath = (match: string, labels: string[], limit = "50") =>
  "/api/v1/series_count?" +
  new URLSearchParams([["match[]", match], ["limit", limit], ...labels.map((l) => ["label", l])]);

// namesPath is how many of what is found have each name.
export const namesPath = (text: string, labels: [string, string][]) =>
  countPath(selector(text, labels), ["__name__"], "1000");

// pushedPath is the pushed series whose names match a pattern with * and ?.
export const pushedPath = (pattern: string) =>
  series(
    `{__name__=~${quote(escape(pattern).replace(/\\\*/g, ".*").replace(/\\\?/g, "."))},__name__!="",resource_id=""}`,
    0,
  );
export const resourcesPath = () => countPath('{resource_type!=""}', ["resource_type"], "1");

export const policiesPath = "/v1/archive_policy";
export const rulesPath = "/v1/archive_policy_rule";
export const rebuildsPath = "/v1/rebuild";
export const typesPath = "/v1/resource_type";
export const jobsPath = "/v1/correlations";
export const jobPath = (id: string) => jobsPath + "/" + encodeURIComponent(id);
export const boardsPath = "/v1/boards";
export const boardPath = (id: string) => boardsPath + "/" + encodeURIComponent(id);
export const statusPath = "/v1/status?details=false";
export const figuresPath = "/metrics";
export const metricPath = (id: string) => "/v1/metric/" + encodeURIComponent(id);
export const costPath = (policy: string) => policiesPath + "/" + encodeURIComponent(policy) + "/cost";

export const find = (params: URLSearchParams) => ({
  text: params.get("find") ?? "",
  labels: params.getAll("l").map((l): [string, string] => {
    const [name, value = ""] = l.split(/=(.*)/s);
    return [name, value];
  }),
});

// parse reads the part of an address behind #.
export function parse(hash: string): { page: string; params: URLSearchParams } {
  const [page, query] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { page: page || "explore", params: new URLSearchParams(query ?? "") };
}

// valuesPath counts the values of a label that hold a text.
export const valuesPath = (name: string, typed: string, text: string, labels: [string, string][]) =>
  countPath(
    selector(
      text,
      labels.filter(([n]) => n !== name),
    ).replace(/}$/, `,${name}=~${quote("(?is).*" + escape(typed.trim()) + ".*")}}`),
    [name],
  );

// firstPaths is what the page of an address asks for without having asked for anything else.
export function firstPaths(hash: string): string[] {
  const { page, params } = parse(hash),
    id = params.get("id"),
    job = params.get("job"),
    policy = params.get("policy");
  switch (page) {
    case "explore": {
      const { text, labels } = find(params),
        chosen = params.getAll("m");
      return [
        ...(chosen.length === 1
          ? [metricPath(chosen[0])]
          : [...(chosen.length ? [chosenPath(chosen)] : []), policiesPath]),
        foundPath(text, labels),
        ...countPaths(text, labels),
        namesPath(text, labels),
      ];
    }
    case "metric":
      return id ? [metricPath(id), metricPath(id) + "/archive"] : [];
    case "policies":
      return [policiesPath, rulesPath, rebuildsPath, ...(policy ? [costPath(policy)] : [])];
    case "boards":
      return [params.has("id") ? boardPath(params.get("id")!) : boardsPath];
    case "correlations":
      return [jobsPath, typesPath, ...(job ? [jobPath(job) + "?limit=1"] : [])];
    case "server":
      return params.has("tab") ? [] : [statusPath, figuresPath];
  }
  return [];
}
