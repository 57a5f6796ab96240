import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

// Small parts that pages share.

export function Notice({ children, bad }: { children: ComponentChildren; bad?: boolean }) {
  return (
    <p class={bad ? "notice bad" : "notice"} role={bad ? "alert" : "status"}>
      {children}
    </p>
  );
}

// enter moves the focus to the page's heading, or, where that is still to come, to its content.
export function enter() {
  const main = document.getElementById("main");
  (main?.querySelector<HTMLElement>("h1[tabindex]") ?? main)?.focus({ preventScroll: true });
}

// Heading is the name of a page, which a page that was entered before it was drawn hands the focus to.
export function Heading({ children, hidden }: { children: ComponentChildren; hidden?: boolean }) {
  useEffect(() => {
    if (document.activeElement?.id === "main") enter();
  }, []);
  return (
    <h1 class={hidden ? "hidden" : undefined} tabIndex={-1}>
      {children}
    </h1>
  );
}

export function Panel({
  title,
  aside,
  children,
  id,
}: {
  title?: ComponentChildren;
  aside?: ComponentChildren;
  children: ComponentChildren;
  id?: string;
}) {
  return (
    <section class="panel" id={id}>
      {(title || aside) && (
        <header>
          <h2>{title}</h2>
          {aside && <div class="aside">{aside}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

// save lets the browser keep a file.
export function save(content: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replace(/[^\w.-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Menu is a button that opens some others.
export function Menu({ title, children }: { title: string; children: ComponentChildren }) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (e: Event) => {
      if (box.current?.open && !box.current.contains(e.target as Node)) box.current.open = false;
    };
    document.addEventListener("click", close);
    return () => document.removeEventListener("click", close);
  }, []);
  return (
    <details
      class="menu"
      ref={box}
      onKeyDown={(e) => {
        if (e.key === "Escape" && box.current?.open) {
          box.current.open = false;
          box.current.querySelector("summary")?.focus();
        }
      }}
    >
      <summary>{title}</summary>
      <div>{children}</div>
    </details>
  );
}

export interface Loaded<T> {
  value?: T;
  error?: string;
  loading: boolean;
}

// useLoad loads again when something it depends on changes, and every so many seconds while the page is seen. What was
// there stays until the new value is, or until there is an error instead. It asks before the browser draws, so that the
// answer comes earlier.
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, on: unknown[], every = 0): Loaded<T> {
  const [state, set] = useState<Loaded<T>>({ loading: true });
  const again = useRef(() => {
    /* set below */
  });
  useLayoutEffect(() => {
    const stop = new AbortController();
    let answered = false; // else what is there answers another question
    again.current = () =>
      void load(stop.signal).then(
        (value) => {
          if (stop.signal.aborted) return;
          answered = true;
          set({ value, loading: false });
        },
        ({ message: error }: Error) => {
          if (!stop.signal.aborted) set((old) => ({ value: answered ? old.value : undefined, error, loading: false }));
        },
      );
    set((old) => (old.loading ? old : { ...old, loading: true }));
    again.current();
    return () => stop.abort();
  }, on);
  useEffect(() => {
    if (!every || state.loading) return;
    const look = () => {
      if (document.hidden) timer = window.setTimeout(look, 1000);
      else again.current();
    };
    let timer = window.setTimeout(look, every * 1000);
    return () => clearTimeout(timer);
  }, [state, every]);
  return state;
}
