package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
)

// host reads the figures of this machine. Names of metrics end in their unit. The figures of cores need two readings:
// they are absent from the first.
type host struct {
	cores map[string]cpu.TimesStat // at the last reading
}

// read returns the figures by the names of their metrics. It leaves out figures that cannot be read, and names them in
// the error.
func (h *host) read(ctx context.Context) (map[string]float64, error) {
	values := make(map[string]float64)
	return values, errors.Join(
		h.readCores(ctx, values),
		readLoad(ctx, values),
		readMemory(ctx, values),
		readMounts(ctx, values),
		readDisks(ctx, values),
		readNetwork(ctx, values),
	)
}

func (h *host) readCores(ctx context.Context, values map[string]float64) error {
	cores, err := cpu.TimesWithContext(ctx, true)
	if err != nil {
		return fmt.Errorf("cpu: %w", err)
	}
	last := h.cores
	h.cores = make(map[string]cpu.TimesStat, len(cores))
	for _, core := range cores {
		h.cores[core.CPU] = core
		before, ok := last[core.CPU]
		total := spent(core) - spent(before)
		if !ok || total <= 0 {
			continue
		}
		idle := core.Idle + core.Iowait - before.Idle - before.Iowait
		values[core.CPU+".percent"] = max(0, 100*(1-idle/total))
	}
	return nil
}

// spent is the time of a core in seconds. User and nice include the time of guests.
func spent(t cpu.TimesStat) float64 {
	return t.User + t.System + t.Idle + t.Nice + t.Iowait + t.Irq + t.Softirq + t.Steal
}

func readLoad(ctx context.Context, values map[string]float64) error {
	average, err := load.AvgWithContext(ctx)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	values["load.1min"], values["load.5min"], values["load.15min"] = average.Load1, average.Load5, average.Load15
	return nil
}

func readMemory(ctx context.Context, values map[string]float64) error {
	memory, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	values["memory.used.bytes"], values["memory.available.bytes"] = float64(memory.Used), float64(memory.Available)
	return nil
}

// readMounts reads the space used on the root and on each file system that has a device, once though it may be mounted
// in many places.
func readMounts(ctx context.Context, values map[string]float64) error {
	mounts, err := disk.PartitionsWithContext(ctx, false)
	if err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	var errs []error
	seen := make(map[string]bool)
	// In a container the root has no device.
	if !slices.ContainsFunc(mounts, func(mount disk.PartitionStat) bool { return mount.Mountpoint == "/" }) {
		mounts = append(mounts, disk.PartitionStat{Mountpoint: "/"})
	}
	for _, mount := range mounts {
		if info, err := os.Stat(mount.Mountpoint); err != nil || !info.IsDir() || seen[mount.Device] {
			continue
		}
		usage, err := disk.UsageWithContext(ctx, mount.Mountpoint)
		if err != nil {
			errs = append(errs, fmt.Errorf("mount %s: %w", mount.Mountpoint, err))
			continue
		}
		seen[mount.Device] = true
		values["mount."+mountName(mount.Mountpoint)+".used.bytes"] = float64(usage.Used)
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

// readDisks reads what went to and from whole disks since the machine started.
func readDisks(ctx context.Context, values map[string]float64) error {
	counters, err := disk.IOCountersWithContext(ctx)
	if err != nil {
		return fmt.Errorf("disks: %w", err)
	}
	for name, c := range counters {
		if isWholeDisk(name) {
			values["disk."+name+".read.bytes"] = float64(c.ReadBytes)
			values["disk."+name+".written.bytes"] = float64(c.WriteBytes)
		}
	}
	return nil
}

// isWholeDisk reports whether a block device is neither a partition nor in memory.
func isWholeDisk(name string) bool {
	if strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram") {
		return false
	}
	_, err := os.Stat("/sys/block/" + name)
	return err == nil
}

// readNetwork reads what went through each interface since it came up.
func readNetwork(ctx context.Context, values map[string]float64) error {
	counters, err := net.IOCountersWithContext(ctx, true)
	if err != nil {
		return fmt.Errorf("network: %w", err)
	}
	for _, c := range counters {
		prefix := "network." + c.Name + "."
		values[prefix+"received.bytes"], values[prefix+"sent.bytes"] = float64(c.BytesRecv), float64(c.BytesSent)
		values[prefix+"received.packets"], values[prefix+"sent.packets"] = float64(
			c.PacketsRecv), float64(c.PacketsSent)
	}
	return nil
}
