import"./chunk-442CZJ4T.js";import"./chunk-SIXJBQHM.js";
