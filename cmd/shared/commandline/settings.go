package commandline

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

const (
	configFlag = "config"
	envPrefix  = "GNOCCO_"
)

// DefineSettings makes the commands of a program take settings also from the environment and a file.
func DefineSettings(root *cobra.Command) {
	root.PersistentPreRunE = ApplySettings
	root.PersistentFlags().String(configFlag, "",
		"configuration file, ending in .toml, .yaml, .yml, or .conf (Gnocchi's)")
}

// ApplySettings sets the flags of cmd that the command line leaves out, from the environment or else from the
// configuration file. So commands look at their flags only, and every setting is checked by its flag. Then it checks
// all values.
func ApplySettings(cmd *cobra.Command, _ []string) error {
	path, _ := cmd.Flags().GetString(configFlag)
	path = cmp.Or(path, os.Getenv(variable(configFlag)))
	var file map[string]any
	switch {
	case strings.HasSuffix(strings.ToLower(path), ".conf"):
		var err error
		if file, err = gnocchiSettings(cmd, path); err != nil {
			return fmt.Errorf("configuration file %s: %w", path, err)
		}
	case path != "":
		var err error
		if file, err = readSettings(path); err != nil {
			return fmt.Errorf("configuration file %s: %w", path, err)
		}
		if keys := unknown(maps.Keys(file)); len(keys) > 0 {
			return fmt.Errorf("configuration file %s: unknown setting %s%s", path, strings.Join(keys, ", "),
				remote.DidYouMean(keys[0], strings.Fields(settingNames)))
		}
	}
	var faults []error
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || flag.Name == "help" {
			return
		}
		value := file[flag.Name]
		if text := os.Getenv(variable(flag.Name)); text != "" {
			value = text
		}
		if value == nil {
			return
		}
		faults = append(faults, setFlag(cmd.Flags(), flag, value))
	})
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { faults = append(faults, checkFlag(flag)) })
	return errors.Join(faults...)
}

// checkFlag refuses numbers and times that are negative or no numbers, but for -1 where the usage says what that is,
// and addresses to listen on without a host or a port.
func checkFlag(flag *pflag.Flag) error {
	value := flag.Value.String()
	wants := ""
	switch {
	case !flag.Changed:
	case flag.Name == "pprof" || strings.HasSuffix("-"+flag.Name, "-listen"):
		if !isAddress(value) && (value != "" || flag.DefValue != "") &&
			!(strings.HasPrefix(value, "unix:") && strings.Contains(flag.Usage, "unix:")) {
			wants = "an address such as 127.0.0.1:8041"
		}
	case flag.Hidden || value == "-1" && strings.Contains(flag.Usage, "-1:"):
	case slices.Contains([]string{"int", "int64", "float64", "duration"}, flag.Value.Type()):
		if value[0] == '-' || value == "NaN" || value == "+Inf" {
			wants = "a number from 0 up"
		}
	}
	if wants == "" {
		return nil
	}
	return fmt.Errorf("invalid argument %q for %q: not %s", value, "--"+flag.Name, wants)
}

// isAddress says whether a text is a host, which may be empty for all of them, and a port.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	_, odd := net.LookupPort("tcp", port)
	return err == nil && odd == nil && port != ""
}

// variable is the name of the environment's variable for a flag.
func variable(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readSettings reads a file of settings. The names of those in a section begin with the section's.
func readSettings(path string) (map[string]any, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var read map[string]any
	switch strings.ToLower(filepath.Ext(path)) {
	case ".toml":
		err = toml.Unmarshal(content, &read)
	case ".yaml", ".yml":
		err = yaml.Unmarshal(content, &read)
	default:
		err = errors.New("its name does not end in .toml, .yaml, .yml or .conf")
	}
	flat := make(map[string]any)
	flatten(flat, "", read)
	return flat, err
}

func flatten(flat map[string]any, section string, values map[string]any) {
	for name, value := range values {
		name = section + strings.ToLower(name)
		if inner, ok := value.(map[string]any); ok {
			flatten(flat, name+".", inner)
		} else {
			flat[name] = value
		}
	}
}

func setFlag(flags *pflag.FlagSet, flag *pflag.Flag, value any) error {
	list, isList := value.([]any)
	slice, isSlice := flag.Value.(pflag.SliceValue)
	if !isList || !isSlice {
		return flags.Set(flag.Name, fmt.Sprint(value))
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = fmt.Sprint(item)
	}
	flag.Changed = true
	return slice.Replace(texts)
}

// settingNames has the settings of all commands, of gnocco and of the programs beside it: one file may serve all.
//
//go:embed settings.txt
var settingNames string

// unknown returns which of the names are no settings of any command, sorted.
func unknown(names iter.Seq[string]) []string {
	known := strings.Fields(settingNames)
	return slices.DeleteFunc(slices.Sorted(names), func(name string) bool { return slices.Contains(known, name) })
}
