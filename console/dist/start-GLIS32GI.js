import"./chunk-5HB3KND3.js";import"./chunk-WIRL5KY3.js";
