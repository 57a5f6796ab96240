package claim

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock tells the time since some moment. It never goes back, goes on while the machine is suspended, and is compared
// with nobody else's.
type Clock interface {
	Now() time.Duration
}

// BootClock is the machine's: CLOCK_BOOTTIME.
type BootClock struct{}

// Now returns the time since the machine was started.
func (BootClock) Now() time.Duration {
	var t unix.Timespec
	// It fails only for a clock that the kernel doesn't know, and this one is as old as 2.6.39.
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
