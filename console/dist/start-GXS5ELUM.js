import"./chunk-KFPN2TUM.js";import"./chunk-SIXJBQHM.js";
