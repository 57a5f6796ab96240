import { perSecond, unitOf, type Unit } from "./format";

// unitOfQuery guesses the unit of an expression's values from the names in it; "" where they do not agree.
export function unitOfQuery(query: string): Unit {
  const quantiles = query.includes("histogram_quantile"),
    bare = query.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\[[^\]]*\]/g, ""),
    names = [...query.matchAll(/(?:\{\s*|\b__name__=)"([^"]+)"/g)].map((m) => m[1]),
    words =
      bare.replace(/\{[^}]*\}|\b(by|without|on|ignoring)\s*\([^)]*\)/g, " ").match(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g) ??
      [];
  if (/\b(count|absent|changes|resets)\w*\s*\(/.test(bare)) return "";
  if (/\b100\s*\*|\*\s*100\b/.test(bare)) return "percent";
  if (bare.includes("/")) return "";
  const units = new Set(
    [...names, ...words]
      .map((name) => unitOf(name.replace(quantiles ? "_bucket" : /_(sum|total)$/, "")))
      .filter(Boolean),
  );
  if (units.size > 1) return "";
  const [unit = ""] = units;
  return /\b(i?rate|deriv)\s*\(/.test(bare) && !quantiles ? perSecond(unit) : unit;
}
