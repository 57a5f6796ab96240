// Command console builds console/dist from console/src and console/node_modules: scripts (a first visit loads those
// that main.tsx imports), one style sheet, the page and the licences of its parts. It runs in its module's
// folder. packages.sh installs node_modules by npm, and build.sh calls both.
package main
