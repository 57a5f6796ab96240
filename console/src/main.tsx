import "./start"; // if it has not run before
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { session, signInNeeded, signOut } from "./api";
import { enter, Heading, Notice } from "./widgets";
import { change, link, route } from "./router";
import { localZone, zoneOf } from "./range";
import { switchTheme, theme } from "./theme";
import { Explore } from "./pages/explore";
import { lazy, loadParts, parts, type Page } from "./lazy";

loadParts(() => import("./lazy_pages"));

// A page has an address, #/name, and a component. Those with a title stand in the head of every page, unless another
// page leads to them.
const pages: { name: string; title?: string; below?: boolean; page: Page }[] = [
  { name: "explore", title: "Explore", page: Explore },
  { name: "boards", title: "Boards", page: lazy(() => parts().then((m) => m.Boards)) },
  { name: "policies", title: "Policies", page: lazy(() => parts().then((m) => m.Policies)) },
  { name: "correlations", title: "Correlations", page: lazy(() => parts().then((m) => m.Correlations)) },
  { name: "server", title: "Server", page: lazy(() => parts().then((m) => m.Server)) },
  { name: "import", title: "Import", below: true, page: lazy(() => parts().then((m) => m.Import)) },
  { name: "metric", page: lazy(() => parts().then((m) => m.MetricPage)) },
];

// Logo is drawn with the page: a browser makes a document of an image of this kind, as long as a tenth of a page takes.
const Logo = () => (
  <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#2f6f5e" />
    <path
      d="M6 21c3 0 3-9 6.5-9S16 21 19.500 21 22.500 11 26 11"
      fill="none"
      stroke="#fff"
      stroke-width="3"
      stroke-linecap="round"
    />
  </svg>
);

const SignIn = lazy(() => parts().then((m) => m.SignIn));

function Zone() {
  const now = zoneOf();
  const [[own, ...rest], setNames] = useState<string[]>(["Local time"]); // hundreds, which no page waits for
  useEffect(() => {
    const timer = setTimeout(
      () =>
        setNames([
          localZone(),
          ...(Intl as unknown as { supportedValuesOf(key: string): string[] }).supportedValuesOf("timeZone"),
        ]),
      1500,
    );
    return () => clearTimeout(timer);
  }, []);
  const all = [...new Set(["", "UTC", now, ...rest])].filter((zone) => zone === now || zone !== own);
  return (
    <select aria-label="Time zone" value={now} onChange={(e) => change({ tz: e.currentTarget.value || null })}>
      {all.map((zone) => (
        <option key={zone} value={zone}>
          {(zone || own).replaceAll("_", " ")}
        </option>
      ))}
    </select>
  );
}

// What had the focus last.
let focused: Element | null = null;
document.addEventListener("focusin", (e) => {
  focused = e.target as Element;
});

function App() {
  const at = route.use(),
    who = session.use(),
    asks = signInNeeded.use(),
    look = theme.use();
  const found = pages.find((p) => p.name === at.page);
  const Page = found?.page;
  useEffect(() => {
    document.title = (found?.title ?? "Metric") + " · Gnocco";
  }, [found]);
  // Another page begins at its heading, for the keyboard and for who listens; so does what follows a link that is gone,
  // such as a tile.
  const before = useRef(at.page);
  useLayoutEffect(() => {
    if (at.page !== before.current || (focused && !focused.isConnected)) enter();
    before.current = at.page;
  }, [at]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(e) => {
          e.preventDefault();
          enter();
        }}
      >
        To the content
      </a>
      <header class="top">
        <a class="brand" href="#/explore">
          <Logo />
          Gnocco
        </a>
        <nav aria-label="Pages">
          {pages.map(
            (p) =>
              p.title &&
              !p.below && (
                <a key={p.name} href={link(p.name)} aria-current={p.name === at.page ? "page" : undefined}>
                  {p.title}
                </a>
              ),
          )}
        </nav>
        <div class="settings">
          <Zone />
          <button
            type="button"
            class="icon"
            aria-label={look === "dark" ? "Light colours" : "Dark colours"}
            title={look === "dark" ? "Light colours" : "Dark colours"}
            onClick={switchTheme}
          >
            {look === "dark" ? "☀" : "☾"}
          </button>
          {who.credentials !== "none" && who.user && (
            <button type="button" onClick={() => void signOut()} title="Sign out, or in as somebody else">
              {who.user}
            </button>
          )}
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {asks && <SignIn />}
        {!asks && found?.title && (
          <Heading key={found.name} hidden>
            {found.title}
          </Heading>
        )}
        {!asks &&
          (Page ? (
            <Page key={at.page + who.user} />
          ) : (
            <Notice>
              No page has this name. Begin with <a href={link("explore")}>Explore</a>.
            </Notice>
          ))}
      </main>
    </>
  );
}

render(<App />, document.getElementById("app")!);
