import"./chunk-ETUX2YYK.js";import"./chunk-SIXJBQHM.js";
