import"./chunk-ACBKX5SS.js";import"./chunk-6UDEE4JO.js";
