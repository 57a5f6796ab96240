import"./chunk-X6RH3JPH.js";import"./chunk-SIXJBQHM.js";
