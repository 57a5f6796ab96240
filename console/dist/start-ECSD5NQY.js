import"./chunk-OY2DO52I.js";import"./chunk-6UDEE4JO.js";
