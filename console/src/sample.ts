import { APIError, read, request } from "./api";
import { readPolicy } from "./metrics";

const span = 3600,
  step = 10; // seconds

// The sample is a machine. Ten minutes ago a second core began to work, and memory with it.
const sample: Record<string, (age: number, i: number) => number> = {
  "cpu0.percent": (_, i) => 35 + 12 * Math.sin(i / 25) + 6 * noise(i),
  "cpu1.percent": (age, i) => (age < 600 ? 88 : 12) + 5 * noise(i + 1e4),
  "cpu2.percent": (_, i) => 22 + 8 * Math.sin(i / 40 + 1) + 5 * noise(i + 2e4),
  "cpu3.percent": (_, i) => 9 + 3 * noise(i + 3e4),
  "memory.used.bytes": (age, i) => 2 ** 30 * ((age < 600 ? 6.5 : 4) + 0.1 * Math.sin(i / 60) + 0.03 * noise(i + 4e4)),
  "load.1min": (age, i) => (age < 600 ? 2.1 : 0.9) + 0.3 * Math.sin(i / 30) + 0.1 * noise(i + 5e4),
  "network.received.bytes": (_, i) => i * 4.2e6 + 2e6 * noise(i),
  "requests.seconds": (age, i) => 0.02 + 0.005 * Math.abs(noise(i + 6e4)) + (age < 600 ? 0.03 : 0),
};

// noise is between -1 and 1, and the same each time.
function noise(i: number): number {
  const x = Math.sin(i * 12.9898) * 43758.5453;
  return 2 * (x - Math.floor(x)) - 1;
}

// sendSample sends the sample by the API that everyone uses, as the user who is signed in.
export async function sendSample() {
  const policies = (await read<Parameters<typeof readPolicy>[0][]>("/v1/archive_policy"))
    .map(readPolicy)
    .filter((p) => p.items.some((i) => i.timespan >= span) && p.methods.includes("mean"));
  policies.sort((a, b) => a.items[0].granularity - b.items[0].granularity || b.methods.length - a.methods.length);
  if (!policies.length) throw new Error("No archive policy keeps an hour of means: an administrator creates one first");
  const metrics = Object.fromEntries(
    Object.keys(sample).map((name) => [name, { archive_policy_name: policies[0].name }]),
  );
  try {
    await request("POST", "/v1/resource/generic", { id: "sample", metrics });
  } catch (error) {
    if (!(error instanceof APIError && error.status === 409)) throw error;
  }
  const now = Math.floor(Date.now() / 1000 / step) * step,
    count = span / step;
  const measures = Object.fromEntries(
    Object.entries(sample).map(([name, value]) => [
      name,
      Array.from({ length: count }, (_, i) => {
        const timestamp = now - (count - 1 - i) * step;
        return { timestamp, value: value(now - timestamp, i) };
      }),
    ]),
  );
  await request("POST", "/v1/batch/resources/metrics/measures", { sample: measures });
}
