import"./chunk-SWJ5R3P5.js";import"./chunk-IIP6GOXZ.js";
