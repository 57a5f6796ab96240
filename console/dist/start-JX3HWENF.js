import"./chunk-F6VPUSIG.js";import"./chunk-UFALDGWE.js";
