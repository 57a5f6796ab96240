package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	defaultSlack = 50 * time.Microsecond // Linux's

	// begunAnew is set in the environment of a program that allowLateTimers has begun anew, until it runs.
	begunAnew = "_GNOCCO_BEGUN_ANEW"
)

// timerSlack returns how late the kernel may wake a program that uses so many cores. Go's monitor takes a core from a
// goroutine that waits for the disk. To do so late costs a tenth of the rate of writes with sixteen cores, but nothing
// with four.
func timerSlack(cores int) time.Duration {
	if cores <= 4 {
		return 2 * time.Millisecond
	}
	return 200 * time.Microsecond
}

// allowLateTimers lets the kernel wake this program up to timerSlack late, unless somebody chose a slack for it: Go's
// monitor naps for 20 µs some twenty times a request. Its thread is made before any code of ours and has the slack that
// the program began with, so that the program begins anew, as the same process: call it before anything else. It
// ignores failures.
func allowLateTimers() {
	if os.Getenv(begunAnew) != "" {
		_ = os.Unsetenv(begunAnew)
		return
	}
	runtime.LockOSThread() // slack belongs to a thread; a new program inherits that of the one that begins it
	defer runtime.UnlockOSThread()
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || time.Duration(slack) != defaultSlack {
		return
	}
	path, err := ownPath()
	if err != nil {
		return
	}
	cores := runtime.GOMAXPROCS(0)
	if unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack(cores)), 0, 0, 0) != nil {
		return
	}
	_ = syscall.Exec(path, os.Args, append(os.Environ(), begunAnew+"=1"))
}

// ownPath returns the path that this program was begun by, as it is what ps shows as its name.
func ownPath() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", err
	}
	named, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	running, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	if !os.SameFile(named, running) {
		return "", os.ErrNotExist
	}
	return path, nil
}
