import"./chunk-SF5R6C23.js";import"./chunk-SIXJBQHM.js";
