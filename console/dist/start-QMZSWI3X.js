import"./chunk-EPVT2D5K.js";import"./chunk-KDDMCHQW.js";
