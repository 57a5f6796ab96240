import"./chunk-VNJFGVEO.js";import"./chunk-SIXJBQHM.js";
