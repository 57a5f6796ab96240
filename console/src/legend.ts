import { useMemo, useState } from "preact/hooks";
import type { Line } from "./chart";

// A Row is a series as tables show it.
export interface Row {
  id: string;
  label: string;
  color: number;
  times: number[];
  values: (number | null)[];
  step: number;
  look?: Line["look"];
  derived?: boolean;
} // derived: of another row's metric

// useHidden is which rows a chart leaves out.
export function useHidden(rows: Row[]) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set<string>());
  const shown = useMemo(() => rows.filter((r) => !hidden.has(r.id)), [rows, hidden]);
  const hide = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    setHidden(next);
  };
  const isolate = (id: string) => {
    const others = rows.map((r) => r.id).filter((r) => r !== id);
    const isolated = !hidden.has(id) && others.every((r) => hidden.has(r));
    setHidden(new Set(isolated ? [] : others));
  };
  return { shown, hidden, hide, isolate };
}
