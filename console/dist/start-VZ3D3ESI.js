import"./chunk-UJO543SL.js";import"./chunk-6NP3PAMF.js";
