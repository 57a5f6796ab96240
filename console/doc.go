// Package console holds the console: the pages that a browser shows at /ui/, as built files to embed.
//
// src has the sources, in TypeScript: main.tsx is where to begin, a page is one file of src/pages, and the parts that
// pages share lie beside main.tsx. package-lock.json names what we take from npm. tools/pinned/console installs that in
// node_modules and builds dist of both; tsconfig.json is for editors and `make lint`. `make generated` fails if the
// committed files are not those of the sources. The console asks the public API and nothing else: decision 51 has the
// reasons.
package console

import "embed"

// Files are the built files, in the folder dist.
//
//go:embed dist
var Files embed.FS

//go:generate ../tools/pinned/console/build.sh
