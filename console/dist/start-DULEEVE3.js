import"./chunk-JVFGTTPW.js";import"./chunk-ID7GUQ4E.js";
