import { useState } from "preact/hooks";
import { session } from "./api";
import { listBoards, putBoard, viewOf, type Board } from "./boards";
import { Notice, useLoad } from "./widgets";
import { parse } from "./paths";
import { queriesOf } from "./query";
import { link } from "./router";

// SaveView puts what is on screen on a board.
export function SaveView({ onDone }: { onDone: () => void }) {
  const who = session.use().user;
  const { value: all } = useLoad((signal) => listBoards(signal), []);
  const own = (all ?? []).filter((b) => b.owner.split(":")[0] === who || b.owner === who);
  const [to, setTo] = useState(""),
    [name, setName] = useState(""),
    [title, setTitle] = useState(titleNow),
    [shared, setShared] = useState(false);
  const [wrong, setWrong] = useState(""),
    [saved, setSaved] = useState<Board | null>(null);
  const submit = async (e: Event) => {
    e.preventDefault();
    const panel = { title: title.trim(), view: viewOf(location.hash) },
      board = own.find((b) => b.id === to);
    try {
      setSaved(
        board
          ? await putBoard({ ...board, panels: [...board.panels, panel] }, board.id)
          : await putBoard({ name: name.trim(), shared, panels: [panel] }),
      );
      setWrong("");
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  if (saved)
    return (
      <Notice>
        Saved on <a href={link("boards", { id: saved.id })}>{saved.name}</a>.{" "}
        <button type="button" class="plain" onClick={onDone}>
          Close
        </button>
      </Notice>
    );
  return (
    <form class="panel save" aria-label="Save this view" onSubmit={submit}>
      {wrong && <Notice bad>{wrong}</Notice>}
      <label>
        Board
        <select name="board" value={to} onChange={(e) => setTo(e.currentTarget.value)}>
          <option value="">A new board</option>
          {own.map((b) => (
            <option key={b.id} value={b.id}>
              {b.name}
            </option>
          ))}
        </select>
      </label>
      {!to && (
        <label>
          Name
          <input name="name" value={name} maxLength={200} required onInput={(e) => setName(e.currentTarget.value)} />
        </label>
      )}
      <label>
        Title
        <input name="title" value={title} maxLength={200} required onInput={(e) => setTitle(e.currentTarget.value)} />
      </label>
      {!to && (
        <label class="check">
          <input type="checkbox" checked={shared} onChange={(e) => setShared(e.currentTarget.checked)} /> Shared
        </label>
      )}
      <button type="submit" class="main">
        Save
      </button>
      <button type="button" class="plain" onClick={onDone}>
        Cancel
      </button>
    </form>
  );
}

// titleNow is what the view on screen is called.
function titleNow(): string {
  const { params } = parse(location.hash),
    drawn = document.querySelector<HTMLElement>("#drawn h2")?.textContent;
  return (queriesOf(params)[0] || drawn || params.get("find") || "Metrics").trim().slice(0, 200);
}
