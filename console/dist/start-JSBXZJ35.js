import"./chunk-GI7QWT62.js";import"./chunk-SIXJBQHM.js";
