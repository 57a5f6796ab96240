import"./chunk-X3C2SWV4.js";import"./chunk-MKXZTMXD.js";
