import"./chunk-VECMLAIE.js";import"./chunk-ID7GUQ4E.js";
