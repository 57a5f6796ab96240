import"./chunk-44FKYCQB.js";import"./chunk-UFALDGWE.js";
