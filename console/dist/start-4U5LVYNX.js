import"./chunk-NQRK2HBV.js";import"./chunk-6HXGSEI3.js";
