import { Notice } from "../parts";
export function MetricPage() { return <Notice>Not yet</Notice>; }
