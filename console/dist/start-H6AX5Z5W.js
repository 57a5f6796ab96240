import"./chunk-W4LN2HUT.js";import"./chunk-7QPIL4KG.js";
