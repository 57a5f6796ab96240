import"./chunk-AVQIMSVU.js";import"./chunk-UFALDGWE.js";
