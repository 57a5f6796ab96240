// A Sample is a line of what /metrics says.
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

// parseText reads Prometheus' text format.
export function parseText(text: string): Sample[] {
  const all: Sample[] = [];
  for (const line of text.split("\n")) {
    if (!line || line.startsWith("#")) continue;
    const parts = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!parts) continue;
    const labels: Record<string, string> = {};
    for (const [, name, value] of (parts[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
    all.push({ name: parts[1], labels, value: Number(parts[3]) });
  }
  return all;
}

// total adds up the samples of a name whose labels are these.
export function total(samples: Sample[], name: string, labels: Record<string, string> = {}): number | null {
  const found = samples.filter((s) => s.name === name && Object.entries(labels).every(([n, v]) => s.labels[n] === v));
  return found.length ? found.reduce((sum, s) => sum + s.value, 0) : null;
}
