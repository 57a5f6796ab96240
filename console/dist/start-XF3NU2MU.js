import"./chunk-T6ROZUNH.js";import"./chunk-WIRL5KY3.js";
