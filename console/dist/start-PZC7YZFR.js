import"./chunk-D5ULKV7R.js";import"./chunk-UFALDGWE.js";
