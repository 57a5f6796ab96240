// walk makes the buttons of a list one Tab stop: arrows, Home and End go from one to the next, right and left open and
// close. Down leads from the field of the search into the list. The stop is where the focus was last. The function that
// it returns ends that.
export function walk(list: HTMLUListElement): () => void {
  const all = () => [...list.querySelectorAll("button")],
    panel = list.closest<HTMLElement>(".finder") ?? list;
  let stop: HTMLElement | undefined;
  const settle = () => {
    const buttons = all();
    if (!stop || !list.contains(stop)) stop = buttons.find((b) => b.ariaPressed === "true") ?? buttons[0];
    for (const b of buttons) if (b.tabIndex !== (b === stop ? 0 : -1)) b.tabIndex = b === stop ? 0 : -1;
  };
  const enter = (e: FocusEvent) => {
    const button = (e.target as HTMLElement).closest("button");
    if (!button || button === stop) return;
    if (stop) stop.tabIndex = -1;
    stop = button;
    button.tabIndex = 0;
  };
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const buttons = all(),
      at = buttons.indexOf(e.target as HTMLButtonElement);
    const searches = e.key === "ArrowDown" && (e.target as HTMLElement).matches(".search input");
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[e.key];
    if (searches) stop?.focus();
    else if (at < 0) return;
    else if (to !== undefined) buttons[to]?.focus();
    else if (buttons[at].ariaExpanded === { ArrowRight: "false", ArrowLeft: "true" }[e.key]) buttons[at].click();
    else return;
    e.preventDefault();
  };
  const changes = new MutationObserver(settle);
  changes.observe(list, { childList: true, subtree: true });
  list.addEventListener("focusin", enter);
  panel.addEventListener("keydown", keys);
  settle();
  return () => {
    changes.disconnect();
    list.removeEventListener("focusin", enter);
    panel.removeEventListener("keydown", keys);
  };
}
