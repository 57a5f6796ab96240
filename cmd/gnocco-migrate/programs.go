package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/cmd/gnocco-migrate/internal/gnocchiconf"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/internal/version"
)

// programOf returns the command that a program name stands for, with its arguments: under Gnocchi's names this program
// does what Gnocchi's programs of these names do.
func programOf(path string, args []string) *cobra.Command {
	var cmd *cobra.Command
	switch name := filepath.Base(path); name {
	case "gnocchi-api", "gnocchi-metricd":
		return newServer(name, strings.TrimPrefix(name, "gnocchi-"), args)
	case "gnocchi-statsd":
		cmd = newStatsd(name)
	case "gnocchi-upgrade":
		cmd = newUpgrade(name)
	default:
		cmd = newCommand()
	}
	cmd.SetArgs(args)
	return cmd
}

// gnocchiProgram is a program of Gnocchi's. Its settings come from its command line, the environment's GNOCCO_* and
// Gnocchi's configuration, in this order.
type gnocchiProgram struct {
	*cobra.Command
	files, folders []string
	logFolder      string
	debug, verbose bool
	host           string
	port           int
	others         []string // flags of the command line that are gnocco's
}

// gnocchiFolder is where Gnocchi looks for its configuration.
const gnocchiFolder = "/etc/gnocchi"

func newGnocchiProgram(name, short string) *gnocchiProgram {
	g := &gnocchiProgram{Command: &cobra.Command{
		Use: name, Short: short, Version: version.Number, SilenceUsage: true, SilenceErrors: true,
		Long: short + `, as Gnocchi's program of this name.

It reads Gnocchi's configuration, by default /etc/gnocchi/gnocchi.conf and
/etc/gnocchi/` + name + `.conf, and warns of each option that has no meaning for Gnocco. The
environment's GNOCCO_* go before the files, and flags before both.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown argument %q", args[0])
			}
			return nil
		},
	}}
	g.SetVersionTemplate(name + " {{.Version}} (gnocco)\n")
	f := g.Flags()
	f.StringArrayVar(&g.files, "config-file", nil,
		"configuration file; a later one goes before those before it (may be repeated)")
	f.StringArrayVar(&g.folders, "config-dir", nil, "folder whose *.conf go before the files (may be repeated)")
	f.StringVar(&g.logFolder, "log-dir", "", "folder of the log file")
	f.BoolVarP(&g.debug, "debug", "d", false, "log at level debug")
	f.BoolVarP(&g.verbose, "verbose", "v", true, "log at level info; off: warn")
	f.Bool("nodebug", false, "the opposite of --debug")
	f.Bool("noverbose", false, "the opposite of --verbose")
	return g
}

// read returns the configuration. Without a file named, those that are in Gnocchi's folder count, if there are any.
func (g *gnocchiProgram) read() (*gnocchiconf.File, error) {
	files, folders := g.files, g.folders
	there := func(name string) []string {
		path := filepath.Join(gnocchiFolder, name)
		if _, err := os.Stat(path); err != nil {
			return nil
		}
		return []string{path}
	}
	if len(files) == 0 {
		files = append(there("gnocchi.conf"), there(g.Name()+".conf")...)
	}
	if len(folders) == 0 && len(g.files) == 0 {
		folders = append(there("gnocchi.conf.d"), there(g.Name()+".conf.d")...)
	}
	return gnocchiconf.Read(files, folders)
}

// variable is the name of the environment's variable for a setting.
func variable(setting string) string {
	return "GNOCCO_" + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

// flag returns the value of a setting that the command line has.
func (g *gnocchiProgram) flag(setting string) (value string, ok bool) {
	if flag := g.Flags().Lookup(setting); flag != nil && flag.Changed {
		return flag.Value.String(), true
	}
	for i, arg := range g.others {
		if arg == "--"+setting && i+1 < len(g.others) {
			value, ok = g.others[i+1], true
		} else if after, found := strings.CutPrefix(arg, "--"+setting+"="); found {
			value, ok = after, true
		}
	}
	return value, ok
}

// given returns the value of a setting that the command line or the environment has.
func (g *gnocchiProgram) given(setting string) (value string, ok bool) {
	if value, ok = g.flag(setting); ok {
		return value, true
	}
	value = os.Getenv(variable(setting))
	return value, value != ""
}

// set sets what the command line says in Gnocchi's words, unless it says it in ours.
func (g *gnocchiProgram) set(setting, value string) {
	if _, ok := g.flag(setting); !ok {
		g.others = append(g.others, "--"+setting+"="+value)
	}
}

// settings returns what the configuration says besides the command line and the environment, and a logger by these. The
// log has what is ignored.
func (g *gnocchiProgram) settings(file *gnocchiconf.File) (values map[string]any, logger *slog.Logger, err error) {
	switch {
	case g.debug:
		g.set("log-level", "debug")
	case !g.verbose || g.Flags().Changed("noverbose"):
		g.set("log-level", "warn")
	}
	if g.logFolder != "" {
		name, _ := g.flag("log-file")
		if name == "" {
			name = g.Name() + ".log"
		}
		if !filepath.IsAbs(name) {
			g.others = append(g.others, "--log-file="+filepath.Join(g.logFolder, name))
		}
	}
	settings, err := file.Settings(g.Name(), g.given)
	if err != nil {
		return nil, nil, err
	}
	text := func(setting, otherwise string) string {
		value, ok := g.given(setting)
		if !ok {
			value, ok = settings.Values[setting].(string)
		}
		if ok {
			return value
		}
		return otherwise
	}
	log := process.LogFlags{Level: text("log-level", "info"), Format: text("log-format", "text"), File: text("log-file", "")}
	if logger, err = log.Logger(g.ErrOrStderr()); err != nil {
		return nil, nil, err
	}
	for _, warning := range settings.Warnings {
		logger.Warn("option of gnocchi.conf without effect", "option", warning.Option, "reason", warning.Reason)
	}
	settings.Values["data"] = text("data", "")
	return settings.Values, logger, nil
}

// load is settings of the files that the command line names.
func (g *gnocchiProgram) load() (file *gnocchiconf.File, values map[string]any, logger *slog.Logger, err error) {
	if file, err = g.read(); err == nil {
		values, logger, err = g.settings(file)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("configuration: %w", err)
	}
	return file, values, logger, nil
}

// newServer returns gnocchi-api or gnocchi-metricd: a process of a cluster, with all flags of it.
func newServer(name, command string, args []string) *cobra.Command {
	g := newGnocchiProgram(name, "Serve the API")
	if command == "api" {
		g.Flags().StringVar(&g.host, "host", "", "address to serve on, in place of [api] host")
		g.Flags().IntVar(&g.port, "port", 0, "port to serve on, in place of [api] port")
		g.Flags().String("uwsgi-mode", "http", "ignored: the port speaks HTTP")
	} else {
		g.Short = "Turn measures into aggregates"
		g.Long = strings.Replace(g.Long, "Serve the API", g.Short, 1)
		g.Flags().Int("stop-after-processing-metrics", 0, "ignored: it is for Gnocchi's own tests")
	}
	g.Long += "\n\nIt also has all flags of gnocco " + command + ", which does the work: gnocco " + command + " --help lists them."
	g.InitDefaultHelpFlag()
	g.InitDefaultVersionFlag()
	var own []string
	own, g.others = divide(g.Flags(), args)
	g.SetArgs(own)
	g.RunE = func(*cobra.Command, []string) error { return g.become(command) }
	return g.Command
}

// divide divides a command line into the flags that are known and the rest, which may have -- before it.
func divide(known *pflag.FlagSet, args []string) (own, others []string) {
	for i := 0; i < len(args); i++ {
		name, long := strings.CutPrefix(args[i], "--")
		name, _, hasValue := strings.Cut(name, "=")
		flag := known.Lookup(name)
		switch {
		case args[i] == "--":
		case !long && strings.HasPrefix(args[i], "-"):
			own = append(own, args[i]) // gnocco's servers have no short flags
		case !long || flag == nil:
			others = append(others, args[i])
		default:
			own = append(own, args[i])
			if !hasValue && flag.NoOptDefVal == "" && i+1 < len(args) {
				i++
				own = append(own, args[i])
			}
		}
	}
	return own, others
}

// become has a command of gnocco take the place of this process. The environment has the settings of the configuration:
// on the command line, all users of the machine would see secrets.
func (g *gnocchiProgram) become(command string) error {
	_, values, _, err := g.load()
	if err != nil {
		return err
	}
	if command == "metricd" {
		delete(values, "listen") // it is the API's
	}
	if listen, ok := values["listen"].(string); ok && (g.host != "" || g.port != 0) {
		host, port, err := net.SplitHostPort(listen)
		if err != nil {
			return err
		}
		if g.host != "" {
			host = g.host
		}
		if g.Flags().Changed("port") {
			port = strconv.Itoa(g.port)
		}
		g.set("listen", net.JoinHostPort(host, port))
	}
	environment := os.Environ()
	for _, setting := range slices.Sorted(maps.Keys(values)) {
		if os.Getenv(variable(setting)) == "" {
			environment = append(environment, variable(setting)+"="+fmt.Sprint(values[setting]))
		}
	}
	path, err := process.Find("gnocco")
	if err != nil {
		return err
	}
	args := append([]string{g.Name(), command}, g.others...)
	return fmt.Errorf("%s: %w", path, unix.Exec(path, args, environment))
}

// newStatsd returns what passes statsd's messages on to the API that holds the index: only that one creates metrics.
func newStatsd(name string) *cobra.Command {
	g := newGnocchiProgram(name, "Take statsd's messages")
	g.Long += `

Messages are passed on, by a socket in the data folder, to the process of the API on this machine
that holds the index.`
	new(process.LogFlags).Define(g.Flags())
	g.Flags().String("data", "", "data folder (default: gnocco below [storage] file_basepath)")
	g.RunE = func(*cobra.Command, []string) error {
		file, values, logger, err := g.load()
		if err != nil {
			return err
		}
		if !file.HasStatsd() {
			return errors.New("[statsd] resource_id is missing: the messages would be lost")
		}
		to := filepath.Join(fmt.Sprint(values["data"]), gnocchiconf.SocketName)
		return forwardDatagrams(g.Context(), file.StatsdAddress(), to, logger, func(address net.Addr) {
			logger.Info("listening for statsd", "address", address.String(), "passed_on_to", to)
		})
	}
	return g.Command
}
