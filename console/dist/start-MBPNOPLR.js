import"./chunk-26WFQELG.js";import"./chunk-C2H55TMR.js";
