import { read, request } from "./api";
import { byName } from "./metrics";
import { boardPath, boardsPath, parse } from "./paths";

// A Panel is a view of the console: a title, and the part of its address behind #/.
export interface Panel {
  title: string;
  view: string;
}
export interface Board {
  id: string;
  name: string;
  owner: string;
  shared: boolean;
  changed_at: string;
  panels: Panel[];
}
export type Content = Pick<Board, "name" | "shared" | "panels">;

export async function listBoards(signal?: AbortSignal): Promise<Board[]> {
  const all: Board[] = [];
  for (let marker = ""; ;) {
    const page = await read<Board[]>(boardsPath + (marker && "?marker=" + marker), undefined, signal);
    all.push(...page);
    if (page.length < 1000) break;
    marker = page[page.length - 1].id;
  }
  return byName(all, (b) => b.name);
}

export async function putBoard(content: Content, id?: string): Promise<Board> {
  const { name, shared, panels } = content;
  return (await (
    await request(id ? "PUT" : "POST", id ? boardPath(id) : boardsPath, { name, shared, panels })
  ).json()) as Board;
}

export const deleteBoard = (id: string) => request("DELETE", boardPath(id));

// viewOf is what a board keeps of an address: all but the zone, the refresh interval, and a time that ends now.
export function viewOf(hash: string): string {
  const { page, params } = parse(hash);
  for (const name of ["tz", "live", ...(/^\d{6}/.test(params.get("from") ?? "") ? [] : ["from", "to"])])
    params.delete(name);
  const query = params.toString();
  return page + (query && "?" + query);
}

// An Imported board says what of a file it does not have.
export interface Imported extends Content {
  missing: string[];
}

const format = "gnocco board 1";
export const exported = ({ name, panels }: Content) => JSON.stringify({ format, name, panels }, null, 2);

// readBoard reads a file: a board that was exported, or a dashboard of Grafana.
export function readBoard(text: string): Imported {
  let file: { format?: string; name?: string; panels?: unknown[]; dashboard?: unknown; title?: string };
  try {
    file = JSON.parse(text) as typeof file;
  } catch {
    throw new Error("The file is no JSON");
  }
  if (file?.format === format)
    return { name: file.name ?? "", shared: false, panels: file.panels as Panel[], missing: [] };
  const dashboard = (file?.dashboard ?? file) as Dashboard;
  if (!Array.isArray(dashboard?.panels)) throw new Error("The file is neither a board nor a dashboard of Grafana");
  return fromGrafana(dashboard);
}

interface Target {
  expr?: string;
  hide?: boolean;
}
interface GrafanaPanel {
  type: string;
  title?: string;
  targets?: Target[];
  panels?: GrafanaPanel[];
  stack?: boolean;
  yaxes?: { format?: string; logBase?: number }[];
  fieldConfig?: {
    defaults?: {
      unit?: string;
      custom?: { stacking?: { mode?: string }; scaleDistribution?: { type?: string } };
    };
  };
}
interface Dashboard {
  title?: string;
  panels: GrafanaPanel[];
}

const charts = ["timeseries", "graph"],
  likeCharts = ["stat", "gauge", "bargauge", "singlestat", "table", "barchart", "piechart"];
const units: Record<string, string> = {
  percent: "percent",
  percentunit: "ratio",
  bytes: "bytes",
  decbytes: "bytes",
  Bps: "bytes/s",
  binBps: "bytes/s",
  s: "seconds",
  reqps: "/s",
  ops: "/s",
  cps: "/s",
  iops: "/s",
  short: "",
  none: "",
};

// fromGrafana takes charts of PromQL, their titles and units. Variables match everything.
function fromGrafana({ title = "Dashboard", panels }: Dashboard): Imported {
  const board: Imported = { name: title, shared: false, panels: [], missing: [] };
  const all = panels.flatMap((p) => (p.type === "row" ? (p.panels ?? []) : [p]));
  all.forEach((panel, i) => {
    const name = panel.title || `Panel ${i + 1}`,
      lacks = (what: string) => {
        const line = `${name}: ${what}`;
        if (!board.missing.includes(line)) board.missing.push(line);
      };
    if (!charts.includes(panel.type) && !likeCharts.includes(panel.type)) {
      lacks(`a panel of type ${panel.type}`);
      return;
    }
    const queries = (panel.targets ?? []).flatMap(({ expr, hide }) => {
      if (!expr || hide) return [];
      const [query, changes] = withoutVariables(expr);
      if (!query.includes("$")) {
        changes.forEach(lacks);
        return [query];
      }
      lacks(`the variable in ${expr}`);
      return [];
    });
    if (!queries.length) {
      lacks("no query in PromQL");
      return;
    }
    const view = new URLSearchParams(queries.map((q) => ["q", q])),
      { unit: named, custom } = panel.fieldConfig?.defaults ?? {},
      unit = named ?? panel.yaxes?.[0]?.format;
    if (unit !== undefined && !(unit in units)) lacks(`the unit ${unit}`);
    else if (unit && units[unit]) view.set("unit", units[unit]);
    if (panel.stack || /normal|percent/.test(custom?.stacking?.mode ?? "")) view.set("stack", "1");
    if (custom?.scaleDistribution?.type === "log" || (panel.yaxes?.[0]?.logBase ?? 1) > 1) view.set("scale", "log");
    if (likeCharts.includes(panel.type)) lacks(`a ${panel.type}, drawn as a chart`);
    board.panels.push({ title: name.slice(0, 200), view: "explore?" + view.toString() });
  });
  return board;
}

// times are the variables that Grafana computes of a panel's width and time.
const times: [string, string][] = [
  ["__rate_interval", "5m"],
  ["__interval", "1m"],
  ["__range", "1h"],
];

// withoutVariables returns an expression without the variables that have a substitute, and what it changed.
function withoutVariables(expr: string): [query: string, changes: string[]] {
  const changes: string[] = [];
  let query = expr.replace(/([\w.:]+)\s*(?:!=|=~|!~|=)\s*"(\$\w+|\$\{\w+(?::\w+)?\})"/g, (_, label, variable) => {
    changes.push(`the filter of ${label} by ${variable}, which matches everything now`);
    return label + '=~".*"';
  });
  for (const [name, value] of times)
    query = query.replace(new RegExp(`\\$(?:\\{${name}\\}|${name}\\b)`, "g"), () => {
      changes.push(`$${name}, taken as ${value}`);
      return value;
    });
  return [query, changes];
}
