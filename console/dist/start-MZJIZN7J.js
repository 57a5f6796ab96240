import"./chunk-RL4RY2ML.js";import"./chunk-6UDEE4JO.js";
