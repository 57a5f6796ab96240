import"./chunk-IOJMJAFB.js";import"./chunk-ID7GUQ4E.js";
