import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

// Scroll is a box that scrolls sideways where its content is wider. The keyboard reaches it then.
export function Scroll({ children }: { children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const look = () => {
      const e = box.current;
      if (!e) return;
      if (e.scrollWidth > e.clientWidth + 1) e.tabIndex = 0;
      else e.removeAttribute("tabindex");
    };
    const sizes = new ResizeObserver(look);
    sizes.observe(box.current!);
    if (box.current!.firstElementChild) sizes.observe(box.current!.firstElementChild);
    return () => sizes.disconnect();
  }, []);
  return (
    <div class="scroll" ref={box}>
      {children}
    </div>
  );
}
