import"./chunk-5WRU37FB.js";import"./chunk-SFRQD3YE.js";
