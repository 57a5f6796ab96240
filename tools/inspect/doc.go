// Command inspect looks into the data folder of a server that is not running, without changing it: which stores there
// are, what they hold, how the splits of a metric are stored, and what did not decode and is kept. It is for those who
// work on Gnocco; gnocco fsck checks a folder, and says what is wrong.
package main
