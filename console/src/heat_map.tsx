import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { pairOf, type Matrix, type Pair } from "./correlations";
import { theme } from "./theme";

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

interface Props {
  matrix: Matrix;
  name: (id: string) => string;
  words: (pair: Pair) => string;
  chosen?: [string, string];
  onPick: (x: string, y: string) => void;
}

// HeatMap draws all coefficients. A click, or the arrow keys and Enter, choose a pair.
export function HeatMap({ matrix, name, words, chosen, onPick }: Props) {
  const box = useRef<HTMLDivElement>(null),
    canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0),
    [at, setAt] = useState<[number, number] | null>(null);
  const look = theme.use(),
    n = matrix.order.length;
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const roomy = Math.min(230, width * 0.32),
    cell = Math.max(2, Math.min(46, (width - roomy) / n)),
    named = cell >= 11;
  const margin = named ? roomy : 0,
    size = Math.max(1, Math.min(width - margin, named ? cell * n : Math.min(width, 640))),
    step = size / n;
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || !width || !n) return;
    const ratio = devicePixelRatio || 1;
    element.width = (margin + size) * ratio;
    element.height = size * ratio;
    const g = element.getContext("2d")!;
    g.scale(ratio, ratio);
    const [same, opposite, empty, text] = [css("--line-1"), css("--line-3"), css("--grid"), css("--text")];
    const gap = step > 6 ? 1 : 0;
    matrix.order.forEach((y, row) =>
      matrix.order.forEach((x, column) => {
        const r = row === column ? 1 : pairOf(matrix, y, x)?.r;
        const left = margin + column * step,
          top = row * step;
        g.globalAlpha = 1;
        g.fillStyle = empty;
        g.fillRect(left, top, step - gap, step - gap);
        if (r === undefined || !Number.isFinite(r)) return;
        g.globalAlpha = row === column ? 0.3 : Math.abs(r) ** 1.5;
        g.fillStyle = row === column ? text : r < 0 ? opposite : same;
        g.fillRect(left, top, step - gap, step - gap);
      }),
    );
    g.globalAlpha = 1;
    if (!named) return;
    g.font = `${Math.min(12, step - 1)}px system-ui, sans-serif`;
    g.textBaseline = "middle";
    g.textAlign = "right";
    g.fillStyle = css("--soft");
    matrix.order.forEach((id, row) => {
      let words = name(id);
      if (g.measureText(words).width > margin - 10) {
        while (words.length > 1 && g.measureText(words + "…").width > margin - 10)
          words = words.slice(0, -1 - (words.length >> 4));
        words += "…";
      }
      g.fillText(words, margin - 8, row * step + step / 2);
    });
  }, [matrix, width, look, size, step]);
  const cellAt = (e: MouseEvent): [number, number] | null => {
    const r = canvas.current!.getBoundingClientRect();
    const row = Math.floor((e.clientY - r.top) / step),
      column = Math.floor((e.clientX - r.left - margin) / step);
    return row >= 0 && row < n && column >= 0 && column < n ? [row, column] : null;
  };
  const pick = (cell: [number, number] | null) => {
    if (cell && cell[0] !== cell[1]) onPick(matrix.order[cell[0]], matrix.order[cell[1]]);
  };
  const keys = (e: KeyboardEvent) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
    if (move) {
      e.preventDefault();
      setAt((old) =>
        old ? [Math.max(0, Math.min(n - 1, old[0] + move[0])), Math.max(0, Math.min(n - 1, old[1] + move[1]))] : [0, 1],
      );
    } else if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      pick(at);
    }
  };
  const ids = at && [matrix.order[at[0]], matrix.order[at[1]]],
    pair = ids && pairOf(matrix, ids[0], ids[1]);
  const mark = ([row, column]: number[], color: string) =>
    row >= 0 &&
    column >= 0 && (
      <i
        class="mark"
        aria-hidden="true"
        style={{
          left: margin + column * step - 1 + "px",
          top: row * step - 1 + "px",
          width: step + "px",
          height: step + "px",
          borderColor: color,
        }}
      />
    );
  return (
    <div class="heat" ref={box}>
      {chosen &&
        mark(
          chosen.map((id) => matrix.order.indexOf(id)),
          "var(--text)",
        )}
      {at && mark(at, "var(--accent)")}
      {width > 0 && (
        <canvas
          ref={canvas}
          id="heat"
          style={{ width: margin + size + "px", height: size + "px" }}
          data-margin={margin}
          data-step={step}
          tabIndex={0}
          role="application"
          aria-label={`Heat map of the correlations of ${n} metrics. Arrow keys move, Enter opens a pair; the strongest pairs are in the table.`}
          onMouseMove={(e) => {
            const cell = cellAt(e);
            setAt((old) => (old && cell && old[0] === cell[0] && old[1] === cell[1] ? old : cell));
          }}
          onMouseLeave={() => setAt(null)}
          onClick={(e) => pick(cellAt(e))}
          onKeyDown={keys}
        />
      )}
      <p class="heat-at" aria-live="polite" id="heat-at" data-r={pair ? pair.r : ""}>
        {!ids ? (
          <>&nbsp;</>
        ) : ids[0] === ids[1] ? (
          name(ids[0])
        ) : (
          <>
            <b>{name(ids[0])}</b> and <b>{name(ids[1])}</b>: {pair ? words(pair) : "no coefficient"}
          </>
        )}
      </p>
      <p class="scale">
        <span>−1</span>
        <i aria-hidden="true" />
        <span>+1</span>
      </p>
    </div>
  );
}
