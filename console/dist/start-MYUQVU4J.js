import"./chunk-3235G72T.js";import"./chunk-7QPIL4KG.js";
