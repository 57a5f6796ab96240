import"./chunk-T5SSAXLO.js";import"./chunk-UFALDGWE.js";
