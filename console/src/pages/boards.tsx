import { useState } from "preact/hooks";
import { session } from "../api";
import { axisOf } from "../axis";
import {
  deleteBoard,
  exported,
  listBoards,
  putBoard,
  readBoard,
  type Board,
  type Imported,
  type Panel,
} from "../boards";
import { Chart } from "../chart";
import { readFlags, type Flags } from "../flags";
import { count, moment, short, whole } from "../format";
import { boardPath, parse } from "../paths";
import { evaluate, queriesOf, unitOfQueries } from "../query";
import { RangeBar } from "../range_bar";
import { readRange, refreshEvery, zoneOf } from "../range";
import { change, link, route } from "../router";
import { Scroll } from "../scroll";
import { Notice, Panel as Box, save, useLoad } from "../widgets";
import { read } from "../api";

// Boards lists the boards, or shows the one that the address names.
export function Boards() {
  const { params } = route.use(),
    id = params.get("id");
  return id ? <OneBoard key={id} id={id} /> : <List />;
}

const standard = 3600;

function List() {
  const [changed, setChanged] = useState(0),
    [wrong, setWrong] = useState(""),
    [imported, setImported] = useState<(Imported & { id: string }) | null>(null);
  const { value, error } = useLoad((signal) => listBoards(signal), [changed]);
  const load = async (file?: File) => {
    if (!file) return;
    setWrong("");
    setImported(null);
    try {
      const content = readBoard(await file.text());
      if (!content.panels?.length) throw new Error("No panel of the file fits: " + content.missing.join("; "));
      const board = await putBoard({ ...content, panels: content.panels.slice(0, 100) });
      setImported({ ...content, id: board.id });
      setChanged(changed + 1);
    } catch (e) {
      setWrong((e as Error).message);
    }
  };
  return (
    <>
      {error && <Notice bad>{error}</Notice>}
      {wrong && <Notice bad>{wrong}</Notice>}
      {imported && (
        <Box title={<a href={link("boards", { id: imported.id })}>{imported.name}</a>} id="imported">
          <p>{count(imported.panels.length, "panel")} imported.</p>
          {imported.missing.length > 0 && (
            <>
              <p class="hint">What did not fit:</p>
              <ul>
                {imported.missing.map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            </>
          )}
        </Box>
      )}
      <Box
        title="Boards"
        id="boards"
        aside={
          <label class="button" title="A board that was exported, or a dashboard of Grafana, as JSON">
            Import
            <input
              type="file"
              class="hidden"
              accept=".json,application/json"
              onChange={(e) => {
                void load(e.currentTarget.files?.[0]);
                e.currentTarget.value = "";
              }}
            />
          </label>
        }
      >
        {value && !value.length && (
          <p class="hint">
            None yet. <b>Save</b> in Explore puts what is on screen on a board.
          </p>
        )}
        {value && value.length > 0 && (
          <Scroll>
            <table>
              <thead>
                <tr>
                  <th scope="col">Board</th>
                  <th scope="col" class="number">
                    Panels
                  </th>
                  <th scope="col">Owner</th>
                  <th scope="col">Seen by</th>
                  <th scope="col">Changed</th>
                </tr>
              </thead>
              <tbody>
                {value.map((b) => (
                  <tr key={b.id}>
                    <td>
                      <a href={link("boards", { id: b.id })}>{b.name}</a>
                    </td>
                    <td class="number">{b.panels.length}</td>
                    <td title={b.owner}>{short(b.owner)}</td>
                    <td>{b.shared ? "all" : "the owner"}</td>
                    <td>{moment(Date.parse(b.changed_at) / 1000, zoneOf())}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </Box>
    </>
  );
}

function OneBoard({ id }: { id: string }) {
  const { params } = route.use(),
    who = session.use().user;
  const [board, setBoard] = useState<Board | null>(null),
    [wrong, setWrong] = useState(""),
    [edits, setEdits] = useState(false),
    [sure, setSure] = useState(false);
  const { value, error } = useLoad((signal) => read<Board>(boardPath(id), undefined, signal), [id]);
  const now = board ?? value,
    charts = (now?.panels ?? []).map(({ view }) => readView(view).queries);
  const { value: flags } = useLoad(
    async (signal) => {
      const { from, to } = readRange(params, standard);
      return readFlags(charts, from, to, signal);
    },
    [JSON.stringify(charts), params.get("from"), params.get("to")],
    60,
  );
  if (!now) return error ? <Notice bad>{error}</Notice> : null;
  const mine = now.owner === who || now.owner.split(":")[0] === who || who === "admin";
  const attempt = (work: Promise<unknown>) =>
    work.then(
      () => setWrong(""),
      (e: Error) => setWrong(e.message),
    );
  const put = (part: Partial<Board>) => attempt(putBoard({ ...now, ...part }, id).then(setBoard));
  const range = readRange(params, standard);
  return (
    <>
      {wrong && <Notice bad>{wrong}</Notice>}
      <div class="bar board">
        {edits ? (
          <form
            class="aside"
            onSubmit={(e) => {
              e.preventDefault();
              const name = new FormData(e.currentTarget).get("name") as string;
              void put({ name }).then(() => setEdits(false));
            }}
          >
            <input name="name" aria-label="Name" defaultValue={now.name} maxLength={200} required />
            <button type="submit">Rename</button>
          </form>
        ) : (
          <h2>{now.name}</h2>
        )}
        <span class="hint" title={now.owner}>
          {now.shared ? "shared, " : ""}of {short(now.owner)}
        </span>
        <span class="grow" />
        <button type="button" onClick={() => save(new Blob([exported(now)]), now.name + ".json")}>
          Export
        </button>
        {mine && (
          <>
            <button type="button" aria-pressed={edits} onClick={() => setEdits(!edits)}>
              Edit
            </button>
            <button type="button" aria-pressed={now.shared} onClick={() => void put({ shared: !now.shared })}>
              Shared
            </button>
            <button
              type="button"
              onClick={() =>
                sure
                  ? void attempt(
                      deleteBoard(id).then(() => {
                        location.hash = link("boards");
                      }),
                    )
                  : setSure(true)
              }
            >
              {sure ? "Really delete" : "Delete"}
            </button>
          </>
        )}
      </div>
      <RangeBar range={range} />
      <div class="board-panels">
        {now.panels.map((panel, i) => (
          <OnePanel
            key={panel.title + panel.view}
            panel={panel}
            flags={flags?.[i]}
            onRemove={
              edits && now.panels.length > 1
                ? () => void put({ panels: now.panels.filter((_, k) => k !== i) })
                : undefined
            }
          />
        ))}
      </div>
    </>
  );
}

// readView reads the address of a view: with the expressions that a board draws, if it has some.
function readView(view: string) {
  const { page, params } = parse(view);
  return { page, params, queries: page === "explore" && !params.has("lang") ? queriesOf(params) : [] };
}

// OnePanel draws expressions, over the board's time, and leads to other views.
function OnePanel({ panel, flags, onRemove }: { panel: Panel; flags?: Flags; onRemove?: () => void }) {
  const { params: own } = route.use(),
    { page, params, queries } = readView(panel.view);
  const times = ["from", "to"].map((name) => [name, own.get(name)] as const).filter(([, v]) => v);
  const href = link(page, new URLSearchParams([...params, ...(queries.length ? (times as [string, string][]) : [])]));
  const range = readRange(own, standard);
  const { value, error } = useLoad(
    async (signal) => {
      const range = readRange(own, standard);
      return queries.length ? { range, ...(await evaluate(queries, range.from, range.to, signal)) } : null;
    },
    [panel.view, own.get("from"), own.get("to"), own.get("live")],
    range.live && queries.length ? refreshEvery(own, Math.max(10, range.span / 300)) : 0,
  );
  const look = (from: number, to: number) => change({ from: String(Math.floor(from)), to: String(Math.ceil(to)) });
  return (
    <Box
      title={<a href={href}>{panel.title}</a>}
      aside={
        onRemove && (
          <button type="button" aria-label={"Remove " + panel.title} onClick={onRemove}>
            Remove
          </button>
        )
      }
    >
      {error && <Notice bad>{error}</Notice>}
      {!queries.length && (
        <p class="hint">
          A view of its own: <a href={href}>open it</a>.
        </p>
      )}
      {value && !value.rows.length && !error && <p class="hint">The answer is empty for this time.</p>}
      {value && value.rows.length > 0 && (
        <>
          <Chart
            lines={value.rows}
            from={value.range.from}
            to={value.range.to}
            height={220}
            {...axisOf(params, unitOfQueries(queries))}
            zone={zoneOf()}
            title={panel.title}
            marks={flags?.marks}
            onZoom={look}
            onPan={look}
          />
          {flags && flags.events.length > 0 && (
            <details class="more flags">
              <summary>{count(flags.events.length, "event")}</summary>
              <ul class="others">
                {flags.events.map((e) => (
                  <li key={e.time + e.label}>
                    <time class="mono">{moment(e.time, zoneOf())}</time> <span>{e.label}</span>
                  </li>
                ))}
              </ul>
            </details>
          )}
          {value.total > value.rows.length && (
            <p class="hint">
              Top {value.rows.length} of {whole(value.total)} by mean
            </p>
          )}
        </>
      )}
    </Box>
  );
}
