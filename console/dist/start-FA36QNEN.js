import"./chunk-ASGGFSPP.js";import"./chunk-7QPIL4KG.js";
