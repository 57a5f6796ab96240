import { allUnits, type Unit } from "./format";

// An Axis is how values are drawn: their unit, by powers of ten, or one upon the other.
export interface Axis {
  unit: Unit;
  log: boolean;
  stacked: boolean;
}

// axisOf is the axis that an address names; guess is the unit where it names none.
export function axisOf(params: URLSearchParams, guess: Unit): Axis {
  const named = params.get("unit"),
    unit = allUnits.find((u) => u === named) ?? (named === "none" ? "" : guess);
  return { unit, log: params.get("scale") === "log", stacked: params.get("stack") === "1" };
}
