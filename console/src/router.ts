import { parse } from "./paths";
import { Store } from "./store";

// The address holds the whole state: #/page?name=value&name=value.
export interface Route {
  page: string;
  params: URLSearchParams;
}

export const route = new Store<Route>(parse(location.hash));
window.addEventListener("hashchange", () => route.set(parse(location.hash)));

// link returns the address of a page. The time zone goes with the reader from page to page.
export function link(page: string, params: Record<string, string | string[]> | URLSearchParams = {}): string {
  let query = new URLSearchParams();
  if (params instanceof URLSearchParams) query = new URLSearchParams(params);
  else for (const [name, value] of Object.entries(params)) for (const v of [value].flat()) query.append(name, v);
  const zone = route.get().params.get("tz");
  if (zone && !query.has("tz")) query.set("tz", zone);
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return "#/" + page + (text ? "?" + text : "");
}

// change sets parameters of the address, null to drop one. Going back undoes it, unless replace is set.
export function change(values: Record<string, string | string[] | null>, replace = false) {
  const { page, params } = route.get();
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(values)) {
    next.delete(name);
    if (value !== null) for (const v of [value].flat()) next.append(name, v);
  }
  const address = link(page, next);
  if (address === location.hash) return;
  if (replace) {
    history.replaceState(null, "", address);
    route.set(parse(location.hash));
  } else location.hash = address;
}
