import"./chunk-Z3BJHS5E.js";import"./chunk-ID7GUQ4E.js";
