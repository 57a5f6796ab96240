import"./chunk-XB7WIQLH.js";import"./chunk-UFALDGWE.js";
