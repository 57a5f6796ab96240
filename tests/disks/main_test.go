package disks_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/tests/testprogram"
)

var (
	fileSystems = flag.String("disks", "", "file systems to run on: local, xfs, ceph, gluster, nfs")
	scenarios   = flag.String("disks.scenarios", "", "scenarios to run, or all; empty: short, which ends two processes")
	rounds      = flag.Int("disks.rounds", 1, "rounds of each scenario")
	metricds    = flag.Int("disks.metricds", 3, "processes of metricd")
	sacks       = flag.Int("disks.sacks", 16, "sacks of a cluster")
	slow        = flag.Int("disks.slow", 0, "times that leases and pauses are longer (0: as the file system needs)")
	keep        = flag.String("disks.keep", "", "folder to which logs are copied")
)

// insideVariable names the folder of the programs, in the namespaces.
const insideVariable = "GNOCCO_DISKS_PROGRAMS"

func TestMain(m *testing.M) {
	flag.Parse()
	if *fileSystems == "" || os.Getenv(insideVariable) != "" || cannotUnshare() != "" {
		os.Exit(m.Run())
	}
	status, err := runInNamespaces()
	if err != nil {
		fmt.Fprintln(os.Stderr, "disks:", err)
		status = 1
	}
	os.Exit(status)
}

// cannotUnshare says why this machine gives a test no namespaces, or "".
func cannotUnshare() string {
	if out, err := exec.Command("unshare", "--net", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs", "tmpfs",
		"/run").CombinedOutput(); err != nil {
		return fmt.Sprintf("namespaces need root: %v: %s", err, out)
	}
	return ""
}

// runInNamespaces runs this program again. bash is there as the first process, which reaps orphans.
func runInNamespaces() (status int, err error) {
	dir, err := testprogram.Build("gnocco", "metricd")
	if err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	args := append([]string{"--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c",
		`"$@" & wait $!`, "bash", self}, os.Args[1:]...)
	if *keep != "" {
		if *keep, err = filepath.Abs(*keep); err != nil {
			return 0, err
		}
		args = append(args, "-disks.keep", *keep)
	}
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), insideVariable+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
