import type { VNode } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Notice } from "./widgets";

type Component<P> = (props: P) => VNode | null;

// Page is a component that needs nothing.
export type Page = Component<object>;

type Parts = typeof import("./lazy_pages");

let load: () => Promise<Parts>;

// loadParts says how what is loaded late is loaded: only main.tsx imports it, as its modules import those that name it.
export const loadParts = (how: () => Promise<Parts>) => {
  load = how;
};

export const parts = () => load();

// lazy returns a component whose code is loaded when it is first drawn.
export function lazy<P extends object = object>(load: () => Promise<Component<P>>): Component<P> {
  let found: Component<P> | undefined;
  return function Lazy(props: P) {
    const [, tick] = useState(0),
      [failed, fail] = useState(false);
    useLayoutEffect(() => {
      if (!found)
        load().then(
          (component) => {
            found = component;
            tick(1);
          },
          () => fail(true),
        );
    }, []);
    const Found = found;
    if (Found) return <Found {...props} />;
    return failed ? (
      <Notice bad>
        This page could not be loaded. The server may have another version by now: load the page again.
      </Notice>
    ) : null;
  };
}
