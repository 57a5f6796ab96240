// Package remote says which server a command asks, who asks, and what an error of that server means.
package remote
