import { Store } from "./store";

// The theme follows the system until somebody switches it; then this browser remembers.
type Theme = "light" | "dark";
const system = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => localStorage.getItem("theme") as Theme | null;
const current = (): Theme => chosen() ?? (system.matches ? "dark" : "light");

function apply() {
  document.documentElement.dataset.theme = current();
  theme.set(current());
}

export const theme = new Store<Theme>(current());
export function switchTheme() {
  localStorage.setItem("theme", current() === "dark" ? "light" : "dark");
  apply();
}
system.addEventListener("change", apply);
apply();
