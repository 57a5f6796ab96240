import"./chunk-G47RJW3U.js";import"./chunk-6NP3PAMF.js";
