import"./chunk-GHTHCFQI.js";import"./chunk-ID7GUQ4E.js";
