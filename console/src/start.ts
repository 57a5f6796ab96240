import { sendFirst } from "./http";
import { firstPaths, parse } from "./paths";

// This runs as soon as it is there, beside the loading of the other scripts: the server works while the browser reads
// them.
firstPaths(location.hash).forEach(sendFirst);
const { page } = parse(location.hash);
if (page !== "explore")
  import("./lazy_pages").catch(() => {
    /* the page says so */
  });
