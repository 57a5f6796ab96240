package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/gnocchiconf"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/statsd"
)

// programOf returns the command that a program name stands for: Gnocchi's names do what Gnocchi's programs of these
// names do, and any other is gnocco with its subcommands.
func programOf(path string) *cobra.Command {
	switch name := filepath.Base(path); name {
	case "gnocchi-api":
		return newGnocchiServer(name, "Serve the API, as Gnocchi's program of this name", cluster.RoleAPI)
	case "gnocchi-metricd":
		return newGnocchiServer(name, "Turn measures into aggregates, as Gnocchi's program of this name",
			cluster.RoleMetricd)
	case "gnocchi-statsd":
		return newGnocchiStatsd(name)
	case "gnocchi-upgrade":
		return newGnocchiUpgrade(name)
	}
	return newRoot()
}

// arguments returns the command line of a program of a name: metricd is the subcommand, and Gnocchi's API may have --
// before its flags.
func arguments(name string, args []string) []string {
	switch filepath.Base(name) {
	case "metricd":
		return append([]string{"metricd"}, args...)
	case "gnocchi-api":
		return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--" })
	}
	return args
}

// gnocchiFlags are those that all of Gnocchi's programs have.
type gnocchiFlags struct {
	files, folders []string
	logFolder      string
	debug, verbose bool
	host           string
	port           int
}

// gnocchiFolder is where Gnocchi looks for its configuration.
const gnocchiFolder = "/etc/gnocchi"

func newGnocchiProgram(name, short string, flags *gnocchiFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Version: version.Number, SilenceUsage: true, SilenceErrors: true,
		Long: short + `.

This is gnocco under a name of Gnocchi's. It reads Gnocchi's configuration, by default
/etc/gnocchi/gnocchi.conf and /etc/gnocchi/` + name + `.conf, and warns of each option that has no
meaning here. The environment's GNOCCO_* go before the files, and flags before both.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown argument %q", args[0])
			}
			return nil
		},
	}
	cmd.SetVersionTemplate(name + " {{.Version}} (gnocco)\n")
	f := cmd.Flags()
	f.StringArrayVar(&flags.files, "config-file", nil,
		"configuration file; a later one goes before those before it (may be repeated)")
	f.StringArrayVar(&flags.folders, "config-dir", nil, "folder whose *.conf go before the files (may be repeated)")
	f.StringVar(&flags.logFolder, "log-dir", "", "folder of the log file")
	f.BoolVarP(&flags.debug, "debug", "d", false, "log at level debug")
	f.BoolVarP(&flags.verbose, "verbose", "v", true, "log at level info; off: warn")
	f.Bool("nodebug", false, "the opposite of --debug")
	f.Bool("noverbose", false, "the opposite of --verbose")
	return cmd
}

// read returns the configuration. Without a file named, those that are in Gnocchi's folder count, if there are any.
func (g *gnocchiFlags) read(program string) (*gnocchiconf.File, error) {
	files, folders := g.files, g.folders
	there := func(name string) []string {
		path := filepath.Join(gnocchiFolder, name)
		if _, err := os.Stat(path); err != nil {
			return nil
		}
		return []string{path}
	}
	if len(files) == 0 {
		files = append(there("gnocchi.conf"), there(program+".conf")...)
	}
	if len(folders) == 0 && len(g.files) == 0 {
		folders = append(there("gnocchi.conf.d"), there(program+".conf.d")...)
	}
	return gnocchiconf.Read(files, folders)
}

// apply sets the flags of a command that takes Gnocchi's flags and ours.
func (g *gnocchiFlags) apply(cmd *cobra.Command) error {
	f := cmd.Flags()
	set := func(name, value string) {
		if flag := f.Lookup(name); flag != nil && !flag.Changed {
			_ = f.Set(name, value) // the values below fit their flags
		}
	}
	switch {
	case g.debug:
		set("log-level", "debug")
	case !g.verbose || f.Changed("noverbose"):
		set("log-level", "warn")
	}
	if g.logFolder != "" {
		name := f.Lookup("log-file").Value.String()
		if name == "" {
			name = cmd.Name() + ".log"
		}
		if !filepath.IsAbs(name) {
			if err := f.Set("log-file", filepath.Join(g.logFolder, name)); err != nil {
				return err
			}
		}
	}
	file, err := g.read(cmd.Name())
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	values, err := gnocchiSettings(cmd, file, cmd.Name())
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if listen, ok := values["listen"].(string); ok && (g.host != "" || g.port != 0) {
		host, port, err := net.SplitHostPort(listen)
		if err != nil {
			return err
		}
		if g.host != "" {
			host = g.host
		}
		if f.Changed("port") {
			port = strconv.Itoa(g.port)
		}
		set("listen", net.JoinHostPort(host, port))
	}
	return setFlags(cmd, values)
}

// gnocchiSettings returns the settings of Gnocchi's configuration that a command has, and logs what it leaves out.
func gnocchiSettings(cmd *cobra.Command, file *gnocchiconf.File, program string) (map[string]any, error) {
	settings, err := file.Settings(program, func(setting string) (string, bool) { return given(cmd, setting) })
	if err != nil {
		return nil, err
	}
	if cmd.Name() == "metricd" || program == "gnocchi-metricd" {
		delete(settings.Values, "listen") // it is the API's
	}
	if !runsForLong(cmd) {
		return settings.Values, nil // no server: ignored settings do no harm
	}
	text := func(setting string) string {
		if value, ok := given(cmd, setting); ok {
			return value
		}
		if value, ok := settings.Values[setting].(string); ok {
			return value
		}
		return cmd.Flag(setting).DefValue
	}
	log := logFlags{level: text("log-level"), format: text("log-format"), file: text("log-file")}
	logger, err := log.logger(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	for _, warning := range settings.Warnings {
		logger.Warn("option of gnocchi.conf without effect", "option", warning.Option, "reason", warning.Reason)
	}
	return settings.Values, nil
}

// newGnocchiServer returns gnocchi-api or gnocchi-metricd: a process of a cluster, with all flags of it.
func newGnocchiServer(name, short string, role cluster.Role) *cobra.Command {
	var gnocchi gnocchiFlags
	var flags serverFlags
	cmd := newGnocchiProgram(name, short, &gnocchi)
	flags.defineFor(cmd.Flags(), role, "")
	if role == cluster.RoleAPI {
		cmd.Flags().StringVar(&gnocchi.host, "host", "", "address to serve on, in place of [api] host")
		cmd.Flags().IntVar(&gnocchi.port, "port", 0, "port to serve on, in place of [api] port")
		cmd.Flags().String("uwsgi-mode", "http", "ignored: the port speaks HTTP")
	} else {
		cmd.Flags().Int("stop-after-processing-metrics", 0, "ignored: it is for Gnocchi's own tests")
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := gnocchi.apply(cmd); err != nil {
			return err
		}
		return flags.serve(cmd)
	}
	return cmd
}

// newGnocchiStatsd returns what passes statsd's messages on to the API that holds the index: only that one creates
// metrics.
func newGnocchiStatsd(name string) *cobra.Command {
	var gnocchi gnocchiFlags
	var log logFlags
	var data string
	cmd := newGnocchiProgram(name, "Take statsd's messages, as Gnocchi's program of this name", &gnocchi)
	cmd.Long += `

Messages are passed on, by a socket in the data folder, to the process of the API on this machine
that holds the index.`
	log.define(cmd.Flags())
	cmd.Flags().StringVar(&data, "data", "", "data folder (default: gnocco below [storage] file_basepath)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		file, err := gnocchi.read(name)
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		if err := gnocchi.apply(cmd); err != nil {
			return err
		}
		if !file.HasStatsd() {
			return errors.New("[statsd] resource_id is missing: the messages would be lost")
		}
		logger, err := log.logger(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		to := "unix:" + filepath.Join(data, gnocchiconf.SocketName)
		return statsd.Forward(cmd.Context(), file.StatsdAddress(), to, logger, func(address net.Addr) {
			logger.Info("listening for statsd", "address", address.String(), "passed_on_to", to)
		})
	}
	return cmd
}

// newGnocchiUpgrade returns what makes the data folder. It stays as it is if it is there: a server brings what an older
// version wrote into the newest form by itself.
func newGnocchiUpgrade(name string) *cobra.Command {
	var gnocchi gnocchiFlags
	var log logFlags
	var data string
	var sacks int
	var skipPolicies bool
	cmd := newGnocchiProgram(name, "Make the data folder ready, as Gnocchi's program of this name", &gnocchi)
	log.define(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&data, "data", "", "data folder (default: gnocco below [storage] file_basepath)")
	f.IntVar(&sacks, "sacks-number", 0, "number of sacks of a new data folder (default there: 16)")
	f.BoolVar(&skipPolicies, "skip-archive-policies-creation", false, "make no default archive policies")
	for _, part := range []string{"index", "storage", "incoming"} {
		f.Bool("skip-"+part, false, "ignored: the parts of a data folder are made together")
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := gnocchi.apply(cmd); err != nil {
			return err
		}
		logger, err := log.logger(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		wanted := cluster.Options{Data: data, Sacks: sacks, SkipDefaultPolicies: skipPolicies}
		return ensureDataFolder(cmd.Context(), &wanted, logger)
	}
	return cmd
}

// ensureDataFolder makes the data folder, unless it is there.
func ensureDataFolder(ctx context.Context, wanted *cluster.Options, logger *slog.Logger) error {
	folder := datafolder.Folder{Path: wanted.Data}
	found, err := folder.ReadClusterFile()
	switch {
	case err == nil:
		logger.Info("the data folder is there; nothing to do",
			"data", wanted.Data, "sacks", found.Sacks, "format", found.Format)
		if wanted.Sacks != 0 && wanted.Sacks != found.Sacks {
			logger.Warn("the number of sacks stays; gnocco sacks changes it",
				"data", wanted.Data, "sacks", found.Sacks, "wanted", wanted.Sacks)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	options := server.Options{Logger: slog.New(slog.DiscardHandler), Cluster: *wanted}
	if err := server.Drain(ctx, options); err != nil {
		return err
	}
	made, err := folder.ReadClusterFile()
	logger.Info("data folder made", "data", wanted.Data, "sacks", made.Sacks, "format", made.Format,
		"default_policies", !wanted.SkipDefaultPolicies)
	return err
}
