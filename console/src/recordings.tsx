import { useState } from "preact/hooks";
import { read, request } from "./api";
import { count, whole } from "./format";
import { Scroll } from "./scroll";
import { Menu, Notice, Panel, useLoad } from "./widgets";

interface Group {
  name: string;
  file: string; // its project
  paused: boolean;
  rules: { name: string; query: string; lastError?: string; cells_to_do: number; cells_of_history: number }[];
}

// Recordings lists recording rules, and how far they are.
export function Recordings() {
  const [asked, ask] = useState(0);
  const load = (signal: AbortSignal) =>
    read<{ data: { groups: Group[] } }>("/api/v1/rules", undefined, signal).then((a) => a.data.groups);
  const { value, error } = useLoad(load, [asked], 5);
  if (!value?.length) return error ? <Notice bad>{error}</Notice> : null;
  const change = (g: Group, method: string, body?: object) =>
    request(method, `/v1/rules/${encodeURIComponent(g.name)}?project=${encodeURIComponent(g.file)}`, body).then(
      () => ask((n) => n + 1),
      (e: Error) => alert(e.message),
    );
  const row = (g: Group, r: Group["rules"][0], i: number) => (
    <tr key={`${g.file} ${g.name} ${i}`} data-recording={r.name}>
      <td>
        {r.name} <small class="hint mono">{r.query}</small>
      </td>
      <td class="wide">
        <span class="badly">{r.lastError}</span> {count(r.cells_to_do, "time")} to do{g.paused && ", paused"}
        <small class="hint">, {whole(r.cells_of_history)} of history</small>
      </td>
      <td class="number">
        <button
          type="button"
          aria-label={(g.paused ? "Resume group " : "Pause group ") + g.name}
          onClick={() => void change(g, "PATCH", { paused: !g.paused })}
        >
          {g.paused ? "Resume" : "Pause"}
        </button>{" "}
        <button type="button" aria-label={"Remove group " + g.name} onClick={() => void change(g, "DELETE")}>
          Remove
        </button>
      </td>
    </tr>
  );
  return (
    <Panel title="Recording rules" id="recordings">
      {error && <Notice bad>{error}</Notice>}
      <Scroll>
        <table>
          <tbody>{value.map((g) => g.rules.map((r, i) => row(g, r, i)))}</tbody>
        </table>
      </Scroll>
    </Panel>
  );
}

// Keep records what an expression answers, by a rule.
export function Keep({ query }: { query: string }) {
  const [said, say] = useState("");
  const keep = (e: SubmitEvent) => {
    e.preventDefault();
    const name = JSON.stringify(new FormData(e.currentTarget as HTMLFormElement).get("record"));
    const file = `groups: [{name: ${name}, rules: [{record: ${name}, expr: ${JSON.stringify(query)}}]}]`;
    request("POST", "/v1/rules", file).then(
      () => say("Recorded each minute, history first; queries read it by themselves"),
      (e: Error) => say(e.message),
    );
  };
  return (
    <Menu title="Keep">
      <form aria-label="Keep this" onSubmit={keep}>
        <input name="record" aria-label="Name of the rule" placeholder="job:load:sum" required />
        <button type="submit">Record</button> {said && <small class="hint">{said}</small>}
      </form>
    </Menu>
  );
}
