import"./chunk-ZGCQLFK4.js";import"./chunk-6HXGSEI3.js";
