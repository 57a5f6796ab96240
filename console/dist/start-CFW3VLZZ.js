import"./chunk-HMVSD4LV.js";import"./chunk-SIXJBQHM.js";
