import type { VNode } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Notice } from "./widgets";

// Page is a component that needs nothing.
export type Page = () => VNode | null;

// lazy returns a component whose code is loaded when it is first drawn.
export function lazy(load: () => Promise<Page>): Page {
  let found: Page | undefined;
  return function Lazy() {
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
    if (Found) return <Found />;
    return failed ? (
      <Notice bad>
        This page could not be loaded. The server may have another version by now: load the page again.
      </Notice>
    ) : null;
  };
}
