import"./chunk-SRZNWQU3.js";import"./chunk-SIXJBQHM.js";
