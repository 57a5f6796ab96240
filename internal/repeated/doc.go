// Package repeated logs what fails again and again, without filling the log.
package repeated
