package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// host reads the figures of this machine from /proc. Names of metrics end in their unit. The figures of cores need two
// readings: they are absent from the first.
type host struct {
	cores map[string]coreTicks // at the last reading
}

// coreTicks are clock ticks of a core since the machine started.
type coreTicks struct{ idle, all float64 }

// read returns the figures by the names of their metrics. It leaves out figures that cannot be read, and names them in
// the error.
func (h *host) read() (map[string]float64, error) {
	values := make(map[string]float64)
	last := h.cores
	h.cores = make(map[string]coreTicks)
	return values, errors.Join(
		eachLine("/proc/stat", func(f []string) { h.readCore(last, f, values) }),
		eachLine("/proc/loadavg", func(f []string) {
			values["load.1min"], values["load.5min"], values["load.15min"] = number(f, 0), number(f, 1), number(f, 2)
		}),
		readMemory(values),
		readMounts(values),
		// Whole disks: sectors of 512 bytes read and written since the machine started.
		eachLine("/proc/diskstats", func(f []string) {
			if len(f) > 9 && isWholeDisk(f[2]) {
				values["disk."+f[2]+".read.bytes"], values["disk."+f[2]+".written.bytes"] = 512*number(f, 5), 512*number(f, 9)
			}
		}),
		// Interfaces: bytes received and sent since each came up.
		eachLine("/proc/net/dev", func(f []string) {
			if name, found := strings.CutSuffix(f[0], ":"); found && len(f) > 10 {
				prefix := "network." + name + "."
				values[prefix+"received.bytes"], values[prefix+"received.packets"] = number(f, 1), number(f, 2)
				values[prefix+"sent.bytes"], values[prefix+"sent.packets"] = number(f, 9), number(f, 10)
			}
		}),
	)
}

// eachLine calls use with the fields of each line that has any.
func eachLine(path string, use func(fields []string)) error {
	text, err := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			use(fields)
		}
	}
	return err
}

// number returns a field as a number, 0 if it is none.
func number(fields []string, i int) float64 {
	if i >= len(fields) {
		return 0
	}
	v, _ := strconv.ParseFloat(fields[i], 64)
	return v
}

// readCore reads a line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. User and nice include the
// time of guests.
func (h *host) readCore(last map[string]coreTicks, fields []string, values map[string]float64) {
	name := fields[0]
	if !strings.HasPrefix(name, "cpu") || name == "cpu" {
		return
	}
	now := coreTicks{idle: number(fields, 4) + number(fields, 5)}
	for i := 1; i <= 8; i++ {
		now.all += number(fields, i)
	}
	h.cores[name] = now
	if before, ok := last[name]; ok && now.all > before.all {
		values[name+".percent"] = max(0, 100*(1-(now.idle-before.idle)/(now.all-before.all)))
	}
}

func readMemory(values map[string]float64) error {
	kibibytes := make(map[string]float64)
	err := eachLine("/proc/meminfo", func(f []string) { kibibytes[f[0]] = number(f, 1) })
	if total, available := kibibytes["MemTotal:"], kibibytes["MemAvailable:"]; total > 0 {
		values["memory.used.bytes"], values["memory.available.bytes"] = 1024*(total-available), 1024*available
	}
	return err
}

// readMounts reads the space used on the root and on each file system that has a device, once though it may be mounted
// in many places.
func readMounts(values map[string]float64) error {
	withDevice := make(map[string]bool)
	errs := []error{eachLine("/proc/filesystems", func(f []string) { withDevice[f[0]] = f[0] != "nodev" })}
	seen := map[string]bool{}
	use := func(device, path string) {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || seen[device] {
			return
		}
		var stat unix.Statfs_t
		if err := unix.Statfs(path, &stat); err != nil {
			errs = append(errs, fmt.Errorf("mount %s: %w", path, err))
			return
		}
		seen[device] = true
		values["mount."+mountName(path)+".used.bytes"] = float64((stat.Blocks - stat.Bfree) * uint64(stat.Bsize))
	}
	errs = append(errs, eachLine("/proc/self/mountinfo", func(f []string) {
		if i := slices.Index(f, "-"); i > 4 && i+2 < len(f) && withDevice[f[i+1]] {
			use(f[i+2], strings.ReplaceAll(f[4], `\040`, " "))
		}
	}))
	if _, ok := values["mount.root.used.bytes"]; !ok {
		use("", "/") // in a container the root has no device
	}
	return errors.Join(errs...)
}

// mountName makes a part of a metric's name of a path: names have no slashes.
func mountName(path string) string {
	if path = strings.Trim(path, "/"); path == "" {
		return "root"
	}
	return strings.ReplaceAll(path, "/", "-")
}

// isWholeDisk reports whether a block device is neither a partition nor in memory.
func isWholeDisk(name string) bool {
	if strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram") {
		return false
	}
	_, err := os.Stat(filepath.Join("/sys/block", name))
	return err == nil
}
