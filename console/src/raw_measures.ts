import { read } from "./api";
import { readArchive } from "./metrics";
import { quote } from "./paths";

// readRaw reads a metric's raw measures, as far as they are kept.
export async function readRaw(
  id: string,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<{ times: number[]; values: number[] }> {
  const { raw } = await readArchive(id, signal);
  const start = Math.max(from, raw.kept_from ? Date.parse(raw.kept_from) / 1000 : Infinity);
  if (start >= to) return { times: [], values: [] };
  const query = new URLSearchParams({
    query: `{metric_id=${quote(id)}}[${Math.ceil((to - start) * 1000)}ms]`,
    time: to.toFixed(3),
  });
  const answer = await read<{ data: { result: { values: [number, string][] }[] } }>(
    "/api/v1/query?" + query,
    undefined,
    signal,
  );
  const values = (answer.data.result[0]?.values ?? []).filter(([, v]) => Number.isFinite(+v));
  return { times: values.map(([t]) => t), values: values.map(([, v]) => +v) };
}
