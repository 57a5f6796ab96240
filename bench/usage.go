package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is the unit of times in /proc/PID/stat: USER_HZ, 100 on every architecture that Go runs on.
const ticksPerSecond = 100

// usage is what processes have used since they were started. Figures that the system does not show us are negative.
type usage struct {
	cpu     time.Duration // user and system, with children that ended and were waited for
	written int64         // bytes sent to the disk
	rss     int64         // bytes resident now, the sum over processes: shared pages count in each
}

// processUsage reads /proc for processes and all that descend from them. An unknown process is an error.
func processUsage(pids []int) (usage, error) {
	all, err := withDescendants(pids)
	if err != nil {
		return usage{}, err
	}
	var u usage
	for _, pid := range all {
		p, err := oneUsage(pid)
		if err != nil {
			if os.IsNotExist(err) && !slices.Contains(pids, pid) {
				continue // a descendant that has ended since
			}
			return usage{}, fmt.Errorf("bench: process %d: %w", pid, err)
		}
		u.cpu += p.cpu
		u.rss += p.rss
		if p.written < 0 || u.written < 0 {
			u.written = -1
		} else {
			u.written += p.written
		}
	}
	return u, nil
}

func oneUsage(pid int) (usage, error) {
	fields, err := statFields(pid)
	if err != nil {
		return usage{}, err
	}
	u := usage{written: -1}
	counted := []int{statChildrenUserTime, statChildrenSystemTime}
	var clock unix.Timespec
	if err := unix.ClockGettime(cpuClock(pid), &clock); err == nil {
		u.cpu = time.Duration(clock.Nano())
	} else {
		counted = append(counted, statUserTime, statSystemTime)
	}
	for _, i := range counted {
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return usage{}, err
		}
		u.cpu += time.Duration(ticks) * (time.Second / ticksPerSecond)
	}
	pages, err := strconv.ParseInt(fields[statResidentPages], 10, 64)
	if err != nil {
		return usage{}, err
	}
	u.rss = pages * int64(os.Getpagesize())
	// Another user's process does not show its input and output.
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid)); err == nil {
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "write_bytes: "); ok {
				if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
					u.written = n
				}
			}
		}
	}
	return u, nil
}

// cpuClock is the clock that counts the CPU time of a process to the nanosecond: clock_getcpuclockid(3), which is not a
// system call but this arithmetic. /proc/PID/stat counts in hundredths of a second, too coarse for short benchmarks.
func cpuClock(pid int) int32 {
	const scheduled = 2 // CPUCLOCK_SCHED: time on a CPU, of all threads
	return ^int32(pid)<<3 | scheduled
}

// Fields of /proc/PID/stat after the command's closing parenthesis, from 0: proc(5) counts the state as the third.
const (
	statParent             = 4 - 3
	statUserTime           = 14 - 3
	statSystemTime         = 15 - 3
	statChildrenUserTime   = 16 - 3
	statChildrenSystemTime = 17 - 3
	statResidentPages      = 24 - 3
)

func statFields(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	// The command may hold spaces and parentheses itself.
	after := strings.LastIndexByte(string(text), ')')
	fields := strings.Fields(string(text[after+1:]))
	if after < 0 || len(fields) <= statResidentPages {
		return nil, fmt.Errorf("/proc/%d/stat: %q", pid, text)
	}
	return fields, nil
}

// withDescendants returns the processes and all their living descendants, each once.
func withDescendants(pids []int) ([]int, error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	children := make(map[int][]int)
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue
		}
		fields, err := statFields(pid)
		if err != nil {
			continue // it has ended since
		}
		if parent, err := strconv.Atoi(fields[statParent]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	var all []int
	seen := make(map[int]bool)
	for queue := slices.Clone(pids); len(queue) > 0; queue = queue[1:] {
		if pid := queue[0]; !seen[pid] {
			seen[pid] = true
			all = append(all, pid)
			queue = append(queue, children[pid]...)
		}
	}
	return all, nil
}

// ownCPU is the CPU time of this program, which shares the machine with the server.
func ownCPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// endedUsage is the usage of a child that was waited for.
func endedUsage(state *os.ProcessState) usage {
	u := usage{cpu: state.UserTime() + state.SystemTime(), written: -1}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.written = r.Oublock * 512 // Linux counts the bytes that it sends to the disk, in units of 512
	}
	return u
}
