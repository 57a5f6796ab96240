import { useState } from "preact/hooks";
import { address, session } from "./api";
import { Copy } from "./copy";
import { link } from "./router";
import { Notice, Panel } from "./widgets";
import { sendSample } from "./sample";

// First is what an empty server shows: how to send. The page goes on by itself when something has come in.
export function First() {
  const user = session.get().credentials === "name" ? "admin:" : "USER:PASSWORD";
  const server = address("");
  const [state, setState] = useState<"" | "sending" | "sent">(""),
    [error, setError] = useState("");
  const send = async () => {
    setState("sending");
    setError("");
    try {
      await sendSample();
      setState("sent");
    } catch (e) {
      setState("");
      setError((e as Error).message);
    }
  };
  const ways: [string, string, string][] = [
    [
      "A measure, by curl",
      "The resource and the metric are created by the first measure.",
      `curl -u ${user} -H 'Content-Type: application/json' \\
  '${server}/v1/resource/generic' -d '{"id": "kitchen", "metrics": {"temperature": {"archive_policy_name": "low"}}}'
curl -u ${user} -H 'Content-Type: application/json' \\
  '${server}/v1/batch/resources/metrics/measures' \\
  -d '{"kitchen": {"temperature": [{"timestamp": "'$(date -u +%FT%T)'", "value": 21.5}]}}'`,
    ],
    [
      "Prometheus",
      "In prometheus.yml; every series becomes a metric.",
      `remote_write:
  - url: ${server}/api/v1/write
    basic_auth:
      username: admin`,
    ],
    [
      "CSV files, by the command line",
      "A column of timestamps, and a metric for each other column.",
      `gnocco import csv --url ${server} FILE`,
    ],
    ["This machine", "The program measures its own machine, every second.", `gnocco demo`],
  ];
  return (
    <>
      <h2>Nothing has come in yet</h2>
      <p class="hint" id="waiting">
        Send something in one of these ways. It appears here within a second.
      </p>
      <p class="fill">
        <button type="button" class="main" disabled={state !== ""} onClick={() => void send()}>
          {state === "sending" ? "Sending …" : state === "sent" ? "Sent" : "Fill in sample data"}
        </button>{" "}
        <span class="hint">
          An hour of a machine that does not exist, as the resource “sample”, in{" "}
          {state === "sent" ? "a moment" : "one click"}.
        </span>
      </p>
      <p>
        <a href={link("import")}>Bring a CSV file</a>
      </p>
      {error && <Notice bad>{error}</Notice>}
      <div class="steps">
        {ways.map(([title, about, text]) => (
          <Panel key={title} title={title} aside={<Copy text={text} />}>
            <p class="hint">{about}</p>
            <pre tabIndex={0} role="group" aria-label={title}>
              {text}
            </pre>
          </Panel>
        ))}
      </div>
    </>
  );
}
