// What is loaded when it is first used, as one file.
export { Policies } from "./pages/policies";
