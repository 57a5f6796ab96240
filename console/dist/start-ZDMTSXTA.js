import"./chunk-T4CCAJYP.js";import"./chunk-7QPIL4KG.js";
