import"./chunk-NJJBVCP3.js";import"./chunk-WIRL5KY3.js";
