import"./chunk-RBT436QY.js";import"./chunk-WIRL5KY3.js";
