import"./chunk-FBEZSV6M.js";import"./chunk-UFALDGWE.js";
