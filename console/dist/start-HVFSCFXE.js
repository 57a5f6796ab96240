import"./chunk-NIXZJW6C.js";import"./chunk-ID7GUQ4E.js";
