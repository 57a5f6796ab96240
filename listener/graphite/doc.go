// Package graphite decodes Graphite's plaintext protocol: "NAME VALUE TIME", a line each. A name may have tags, which
// are labels: "disk.used;host=web-1". A template makes labels of the parts of a name without tags.
package graphite
