import"./chunk-47SQXPXP.js";import"./chunk-6HXGSEI3.js";
