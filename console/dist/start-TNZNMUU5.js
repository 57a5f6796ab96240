import"./chunk-RP6BUOWY.js";import"./chunk-UFALDGWE.js";
