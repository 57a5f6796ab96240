// Command console builds console/dist from console/src and console/packages: scripts, of which a first visit loads
// those that main.tsx imports, one style sheet, the page and the licences of what is inside. It runs in the folder
// console.
package main
