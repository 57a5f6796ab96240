// Package console holds the console: the pages that a browser shows at /ui/, as built files to embed.
//
// src has the sources, in TypeScript: main.tsx is where to begin, a page is one file of src/pages, and the parts that
// pages share lie beside main.tsx. packages has what we take from npm, as it comes from there. tools/console builds
// dist of both; tsconfig.json is for editors and `make lint`. `make generated` fails if what is committed is not what
// the sources say. The console asks the public API and nothing else: decision 51 has the reasons.
package console

import "embed"

// Files are the built files, in the folder dist.
//
//go:embed dist
var Files embed.FS

//go:generate go run ../tools/console
