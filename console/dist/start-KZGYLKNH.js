import"./chunk-HTK7XWML.js";import"./chunk-6UDEE4JO.js";
