import"./chunk-O2JOPZLO.js";import"./chunk-SIXJBQHM.js";
