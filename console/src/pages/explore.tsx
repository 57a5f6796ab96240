import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { Finder, useFinder } from "../finder";
import { lazy, parts } from "../lazy";
import { route } from "../router";
import { Overlay } from "../combined_chart";
import { Tiles } from "../tiles";
import { chosenMetrics, type Metric } from "../metrics";
import { Notice } from "../widgets";

const First = lazy(() => parts().then((m) => m.First));
const QueryView = lazy(() => parts().then((m) => m.QueryView));

// Explore finds metrics on the left and draws what the address says on the right: chosen metrics, an expression, or, if
// nothing is chosen, a small chart of each kind of metric that was found.
export function Explore() {
  const { params } = route.use();
  const finder = useFinder(params);
  const ids = params.getAll("m"),
    key = ids.join();
  const [chosen, setChosen] = useState<Metric[]>([]),
    [error, setError] = useState("");
  useLayoutEffect(() => {
    let current = true;
    setError("");
    void chosenMetrics(ids).then((all) => {
      if (!current) return;
      setChosen(all.flatMap((r) => (r.status === "fulfilled" ? [r.value] : [])));
      const failed = all.find((r): r is PromiseRejectedResult => r.status === "rejected");
      if (failed) setError((failed.reason as Error).message);
    });
    return () => {
      current = false;
    };
  }, [key]);
  const metrics = useMemo(() => chosen.filter((m) => ids.includes(m.id)), [chosen, key]);
  if (finder.empty) return <First />;
  return (
    <div class={ids.length || params.has("q") ? "split drawn" : "split"}>
      <Finder finder={finder} chosen={metrics} />
      <div>
        {error && <Notice bad>{error}</Notice>}
        {params.has("q") ? (
          <QueryView />
        ) : ids.length ? (
          metrics.length > 0 && <Overlay metrics={metrics} />
        ) : (
          <Tiles finder={finder} />
        )}
      </div>
    </div>
  );
}
