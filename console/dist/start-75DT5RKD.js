import"./chunk-DVE3PIRT.js";import"./chunk-SIXJBQHM.js";
