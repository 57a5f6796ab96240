package commandline

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/shared/process"
)

// migrator is the program that knows Gnocchi's configuration and program names, with a module of its own.
const migrator = "gnocco-migrate"

// gnocchiSettings returns the settings that Gnocchi's configuration stands for, and logs which options it leaves out if
// cmd is a server.
func gnocchiSettings(cmd *cobra.Command, path string) (map[string]any, error) {
	program, err := process.Find(migrator)
	if err != nil {
		return nil, err
	}
	read := exec.Command(program, "settings", path)
	read.Env = os.Environ()
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		read.Env = append(read.Env, variable(flag.Name)+"="+flag.Value.String()) // goes before the file
	})
	var stderr strings.Builder
	read.Stderr = &stderr
	out, err := read.Output()
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(strings.TrimSpace(stderr.String()), migrator+": "))
	}
	var settings struct {
		Values   map[string]any
		Warnings []struct{ Option, Reason string }
	}
	if err := json.Unmarshal(out, &settings); err != nil {
		return nil, err
	}
	if cmd.Name() == "metricd" {
		delete(settings.Values, "listen") // it is the API's
	}
	if !RunsForLong(cmd) {
		return settings.Values, nil // no server: ignored options do no harm
	}
	text := func(setting string) string {
		flag := cmd.Flag(setting)
		if value := os.Getenv(variable(setting)); !flag.Changed && value != "" {
			return value
		}
		if value, ok := settings.Values[setting].(string); ok && !flag.Changed {
			return value
		}
		return flag.Value.String()
	}
	log := process.LogFlags{Level: text("log-level"), Format: text("log-format"), File: text("log-file")}
	logger, err := log.Logger(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	for _, warning := range settings.Warnings {
		logger.Warn("option of gnocchi.conf without effect", "option", warning.Option, "reason", warning.Reason)
	}
	return settings.Values, nil
}

// RunsForLong reports whether a command is a server. Only these have a log.
func RunsForLong(cmd *cobra.Command) bool { return cmd.Flags().Lookup("log-level") != nil }
