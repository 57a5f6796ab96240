import"./chunk-J525V6NZ.js";import"./chunk-6HXGSEI3.js";
