import"./chunk-MDOSLZMN.js";import"./chunk-7QPIL4KG.js";
