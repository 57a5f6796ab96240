import"./chunk-VPMIURNC.js";import"./chunk-ID7GUQ4E.js";
