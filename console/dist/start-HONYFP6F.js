import"./chunk-MPWJCUDF.js";import"./chunk-UFALDGWE.js";
