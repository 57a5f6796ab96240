package devices

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/gpu/device"
)

// Choose returns the devices that --gpu means: all for auto and on, one for a number, none for off. With auto, missing
// or broken devices are no error.
func Choose(choice, driver string, logger *slog.Logger) ([]device.Properties, error) {
	only, err := ParseChoice(choice)
	if err != nil || choice == "off" {
		return nil, err
	}
	found, err := device.Find(driver)
	switch {
	case err == nil && only >= len(found):
		return nil, fmt.Errorf("--gpu: there is no device %d among %d", only, len(found))
	case err == nil && only >= 0:
		return found[only : only+1], nil
	case err == nil:
		return found, nil
	case choice != "auto":
		return nil, fmt.Errorf("--gpu: %w", err)
	case errors.Is(err, device.ErrUnavailable):
		logger.Debug("no CUDA device, working on the CPU", "error", err)
	default:
		logger.Warn("CUDA devices do not work, working on the CPU", "error", err)
	}
	return nil, nil
}

// Open returns devices for one kind of work, the label "work" of their metrics. A device may be open for several kinds.
func Open(found []device.Properties, options device.Options, work string) []*device.Device {
	if options.Registerer != nil {
		options.Registerer = prometheus.WrapRegistererWith(prometheus.Labels{"work": work}, options.Registerer)
	}
	var opened []*device.Device
	for _, properties := range found {
		options.Ordinal = properties.Ordinal
		dev, err := device.New(options)
		if err != nil {
			panic(err) // the options are ours
		}
		opened = append(opened, dev)
	}
	return opened
}

// ParseChoice checks what --gpu says, and returns the number of a device, or -1 if it names none.
func ParseChoice(choice string) (int, error) {
	switch choice {
	case "auto", "on", "off":
		return -1, nil
	}
	only, err := strconv.Atoi(choice)
	if err != nil || only < 0 {
		return 0, fmt.Errorf("--gpu is %q, not auto, off, on or the number of a device", choice)
	}
	return only, nil
}

// Flags say how CUDA devices are found.
type Flags struct {
	Driver string
}

// Define adds the flags.
func (f *Flags) Define(flags *pflag.FlagSet) {
	flags.StringVar(&f.Driver, "cuda-driver", "",
		"path of the CUDA driver's library (default: the system's libcuda.so.1)")
}
