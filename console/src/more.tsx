// What is loaded when it is first used, as one file.
export { Changed } from "./changed";
export { First } from "./first";
export { MetricPage } from "./pages/metric";
export { picture } from "./picture";
export { Policies } from "./pages/policies";
export { QueryView } from "./query";
export { Correlations } from "./pages/correlations";
