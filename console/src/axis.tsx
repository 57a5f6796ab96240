import { allUnits, type Unit } from "./format";
import { Menu } from "./widgets";
import { change, route } from "./router";

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

// AxisMenu changes the axis in the address.
export function AxisMenu({ axis: { log, stacked } }: { axis: Axis }) {
  const { params } = route.use();
  return (
    <Menu title="Axis">
      <label class="aside">
        Unit{" "}
        <select
          aria-label="Unit"
          value={params.get("unit") ?? ""}
          onChange={(e) => change({ unit: e.currentTarget.value || null })}
        >
          <option value="">by the name</option>
          <option value="none">none</option>
          {allUnits.map((unit) => (
            <option key={unit}>{unit}</option>
          ))}
        </select>
      </label>
      <button type="button" aria-pressed={log} onClick={() => change({ scale: log ? null : "log", stack: null })}>
        Logarithmic
      </button>
      <button type="button" aria-pressed={stacked} onClick={() => change({ stack: stacked ? null : "1", scale: null })}>
        Stacked
      </button>
    </Menu>
  );
}
