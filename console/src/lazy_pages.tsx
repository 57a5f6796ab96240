// What is loaded when it is first used, as one file.
export { AxisMenu } from "./axis_menu";
export { Changed } from "./changes_panel";
export { CopyButtons } from "./copy_buttons";
export { First } from "./empty_state";
export { MetricPage } from "./pages/metric";
export { drawNative, readQuantiles } from "./histograms";
export { picture } from "./export_png";
export { Policies } from "./pages/policies";
export { QueryView } from "./query";
export { Correlations } from "./pages/correlations";
export { Server } from "./pages/server";
export { Boards } from "./pages/boards";
export { SignIn } from "./sign_in";
export { SaveView } from "./save_view";
export { Members } from "./questions";
export { DataTable, Summary } from "./table";
