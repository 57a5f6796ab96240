import"./chunk-F4UNSYIN.js";import"./chunk-UFALDGWE.js";
