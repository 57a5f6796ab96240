import"./chunk-BDYDJTHV.js";import"./chunk-7QPIL4KG.js";
