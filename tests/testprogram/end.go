package testprogram

import (
	"os/exec"
	"syscall"
)

// EndWithTest has the kernel end a command with the test's process, which may be killed, or run out of time, and then
// cleans nothing up. It returns the command.
func EndWithTest(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}
