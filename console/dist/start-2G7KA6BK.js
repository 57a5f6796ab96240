import"./chunk-2OGRDX6W.js";import"./chunk-UFALDGWE.js";
