import { address } from "./api";
import { promqlOf } from "./combined_chart";
import type { Columns, Metric } from "./metrics";
import { Copy } from "./copy";

// CopyButtons copies what a chart of metrics shows, as a command or a program.
export function CopyButtons({
  metrics,
  columns,
  method,
  range,
}: {
  metrics: Metric[];
  columns?: Columns[];
  method: string;
  range: { from: number; to: number };
}) {
  const start = Math.floor(range.from),
    stop = Math.ceil(range.to),
    first = metrics[0];
  const g = columns?.[0]?.item.granularity ?? first.policy.items[0].granularity;
  const query = `start=${start}&stop=${stop}&granularity=${g}&aggregation=${encodeURIComponent(method)}`;
  const each = (write: (m: Metric) => string) => metrics.map(write).join("\n");
  return (
    <>
      <Copy
        label="curl"
        title="Copy as curl"
        text={each((m) => `curl -u USER: '${address(`/v1/metric/${m.id}/measures?${query}`)}'`)}
      />
      <Copy
        label="Python"
        title="Copy as Python"
        text={python(
          metrics.map((m) => m.id),
          query,
        )}
      />
      <Copy
        label="gnocchi"
        title="Copy for Gnocchi's client"
        text={each(
          (m) =>
            `gnocchi measures show ${m.id} --aggregation ${method} --granularity ${g} --start ${start} --stop ${stop}`,
        )}
      />
      <Copy label="PromQL" title="Copy as PromQL" text={metrics.map(promqlOf).join(" or ")} />
    </>
  );
}

// python needs nothing but Python.
const python = (ids: string[], query: string) => `import base64, json, urllib.request

user, password = "USER", ""
for metric in ${JSON.stringify(ids)}:
    request = urllib.request.Request(${JSON.stringify(address("/v1/metric/"))} + metric + ${JSON.stringify("/measures?" + query)})
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    for timestamp, granularity, value in json.load(urllib.request.urlopen(request)):
        print(metric, timestamp, value)
`;
