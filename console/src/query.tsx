import { Notice } from "./parts";
export function QueryView() { return <Notice>Not yet</Notice>; }
