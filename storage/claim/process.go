package claim

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// Process says which process of which machine a member is, so that others there see at once when it is gone.
type Process struct {
	Host   string `json:"host"`    // for people
	BootID string `json:"boot_id"` // of the machine since it was started
	// Namespace is the one of process numbers: another container of the same machine has others.
	Namespace string `json:"namespace"`
	// Device is the mount of the data folder. Only the same mount sees at once the last writes of a process that died.
	Device uint64 `json:"device"`
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"` // of the process, clock ticks since the machine was started: numbers come again
}

// ThisProcess describes the running process; root is the data folder.
func ThisProcess(root string) (Process, error) {
	p := Process{PID: os.Getpid()}
	bootID, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return p, fmt.Errorf("claim: %w", err)
	}
	p.BootID = strings.TrimSpace(string(bootID))
	if p.Namespace, err = os.Readlink("/proc/self/ns/pid"); err != nil {
		return p, fmt.Errorf("claim: %w", err)
	}
	if p.Host, err = os.Hostname(); err != nil {
		return p, fmt.Errorf("claim: %w", err)
	}
	var stat unix.Stat_t
	if err := unix.Stat(root, &stat); err != nil && !errors.Is(err, unix.ENOENT) {
		return p, fmt.Errorf("claim: %s: %w", root, err)
	}
	p.Device = stat.Dev
	p.Start, _, err = processStart(p.PID)
	return p, err
}

// Gone reports whether other has ended, as far as the process p can see: it lives where p does, on the same mount.
func (p *Process) Gone(other *Process) bool {
	if p.BootID == "" || p.BootID != other.BootID || p.Namespace != other.Namespace || p.Device != other.Device {
		return false
	}
	start, running, err := processStart(other.PID)
	return err == nil && (!running || start != other.Start)
}

// SharesMount reports whether a member of the data folder runs on this machine and on this mount, or ran there lately.
func SharesMount(fs vfs.FS, root string) (bool, error) {
	own, err := ThisProcess(root)
	if err != nil {
		return false, err
	}
	names, err := list(fs, membersDir(fs, root))
	if err != nil {
		return false, fmt.Errorf("claim: members: %w", err)
	}
	for _, name := range names {
		content, err := read(fs, fs.PathJoin(membersDir(fs, root), name, descriptionFile))
		if err != nil { // it leaves
			continue
		}
		m, err := decodeMember(content)
		if err == nil && own.BootID != "" && m.Process.BootID == own.BootID && m.Process.Device == own.Device {
			return true, nil
		}
	}
	return false, nil
}

// processStart reads when a process was started; running is false if it has ended, also if its parent has yet to hear
// of it. It reads of the first thread, which is the same: below qemu's emulation of another architecture /proc/PID/stat
// has for each thread that reads it the start of that thread.
func processStart(pid int) (start uint64, running bool, err error) {
	number := strconv.Itoa(pid)
	content, err := os.ReadFile("/proc/" + number + "/task/" + number + "/stat")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("claim: %w", err)
	}
	// The second field is the command in parentheses, which may hold anything.
	end := strings.LastIndexByte(string(content), ')')
	fields := strings.Fields(string(content[end+1:]))
	const state, startTime = 0, 19 // fields 3 and 22 of proc(5)
	if len(fields) <= startTime {
		return 0, false, fmt.Errorf("claim: /proc/%d/stat: the number of fields is %d", pid, len(fields))
	}
	if start, err = strconv.ParseUint(fields[startTime], 10, 64); err != nil {
		return 0, false, fmt.Errorf("claim: /proc/%d/stat: %w", pid, err)
	}
	return start, fields[state] != "Z" && fields[state] != "X", nil
}
