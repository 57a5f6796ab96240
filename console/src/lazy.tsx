import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Notice } from "./parts";

// lazy returns a component whose code is loaded when it is first drawn.
export function lazy(load: () => Promise<ComponentType>): ComponentType {
  let found: ComponentType | undefined;
  return function Lazy() {
    const [, tick] = useState(0), [failed, fail] = useState(false);
    useEffect(() => {
      if (!found) load().then((component) => { found = component; tick(1); }, () => fail(true));
    }, []);
    const Found = found;
    if (Found) return <Found />;
    return failed ? <Notice bad>This page could not be loaded. The server may have another version by now: load the page again.</Notice> : null;
  };
}
