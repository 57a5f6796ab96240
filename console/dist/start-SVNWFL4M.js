import"./chunk-YCRXHCJD.js";import"./chunk-6HXGSEI3.js";
