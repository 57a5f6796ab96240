import"./chunk-P2WAIUM5.js";import"./chunk-UFALDGWE.js";
