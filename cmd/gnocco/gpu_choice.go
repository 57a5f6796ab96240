package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/gpu"
)

// chooseDevices returns the devices that --gpu means: auto and on all, a number that one, off none. With auto it is no error that
// there are none, or that they do not work.
func chooseDevices(choice, driver string, logger *slog.Logger) ([]gpu.Properties, error) {
	only, err := parseDeviceChoice(choice)
	if err != nil || choice == "off" {
		return nil, err
	}
	found, err := gpu.Find(driver)
	switch {
	case err == nil && only >= len(found):
		return nil, fmt.Errorf("--gpu: there is no device %d among %d", only, len(found))
	case err == nil && only >= 0:
		return found[only : only+1], nil
	case err == nil:
		return found, nil
	case choice != "auto":
		return nil, fmt.Errorf("--gpu: %w", err)
	case errors.Is(err, gpu.ErrUnavailable):
		logger.Debug("no CUDA device, working on the CPU", "err", err)
	default:
		logger.Warn("CUDA devices do not work, working on the CPU", "err", err)
	}
	return nil, nil
}

// newDevices returns devices for one kind of work, which is a label of their metrics: a device may be open for several.
func newDevices(found []gpu.Properties, options gpu.Options, work string) []*gpu.Device {
	if options.Registerer != nil {
		options.Registerer = prometheus.WrapRegistererWith(prometheus.Labels{"work": work}, options.Registerer)
	}
	var devices []*gpu.Device
	for _, properties := range found {
		options.Ordinal = properties.Ordinal
		device, err := gpu.NewDevice(options)
		if err != nil {
			panic(err) // the options are ours
		}
		devices = append(devices, device)
	}
	return devices
}

// parseDeviceChoice checks what --gpu says, and returns the number of a device, or -1 if it names none.
func parseDeviceChoice(choice string) (int, error) {
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
