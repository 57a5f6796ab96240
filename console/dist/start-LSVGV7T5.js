import"./chunk-OUGNOC5H.js";import"./chunk-UFALDGWE.js";
