import"./chunk-HQ6AWIGF.js";import"./chunk-ID7GUQ4E.js";
