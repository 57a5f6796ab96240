import"./chunk-QMSAB3XY.js";import"./chunk-KDDMCHQW.js";
