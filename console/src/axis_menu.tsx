import type { Axis } from "./axis";
import { allUnits } from "./format";
import { change, route } from "./router";
import { Menu } from "./widgets";

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
