import"./chunk-IINO7AFC.js";import"./chunk-KDDMCHQW.js";
