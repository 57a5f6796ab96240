import"./chunk-PDEDNP7O.js";import"./chunk-SIXJBQHM.js";
