import"./chunk-TL6MU74L.js";import"./chunk-UFALDGWE.js";
