package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	base := flag.String("base", "",
		"revision to compare with (default: where HEAD left origin/main, or else HEAD's first parent)")
	pairs := flag.Int("pairs", 15, "pairs of runs of a benchmark at most, six at least")
	limit := flag.Float64("limit", 1.10, "ratio above which a benchmark is too slow")
	flag.Parse()
	if *pairs < 6 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	code, err := compareWith(*base, *pairs, *limit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "perfgate:", err)
		code = 1
	}
	os.Exit(code)
}

// compareWith compares this tree with a revision and returns the status to exit with.
func compareWith(base string, pairs int, limit float64) (code int, err error) {
	if base == "" {
		base = revisionBefore()
	}
	commit, err := git("rev-parse", "--verify", "--quiet", base+"^{commit}")
	if base == "" || err != nil {
		fmt.Printf("skipped: no revision to compare with is here (%s)\n0 passed, 0 failed, %d skipped\n", base,
			len(gates))
		return 0, nil
	}
	work, err := os.MkdirTemp("", "gnocco-perfgate-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	head, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return 0, err
	}
	c := comparison{
		base: tree{dir: filepath.Join(work, "tree")}, head: tree{dir: head},
		work: work, pairs: pairs, limit: limit,
	}
	if err := checkOut(commit, c.base.dir, work); err != nil {
		return 0, err
	}
	fmt.Printf("this tree relative to %s: user and system time, median of up to %d pairs\n", commit[:12], pairs)
	var passed, failed, skipped int
	for _, g := range gates {
		switch result, text := c.compare(&g); result {
		case fine:
			fmt.Printf("%-30s%s\n", g.name, text)
			passed++
		case without:
			fmt.Printf("%-30sskipped: %s\n", g.name, text)
			skipped++
		case red:
			fmt.Printf("%-30sFAIL: %s\n", g.name, text)
			failed++
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return min(failed, 1), nil
}

// revisionBefore returns the last revision before this change, "" if the clone has none.
func revisionBefore() string {
	head, err := git("rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	if left, err := git("merge-base", "origin/main", "HEAD"); err == nil && left != head {
		return left
	}
	if parent, err := git("rev-parse", "--verify", "--quiet", "HEAD^1"); err == nil {
		return parent
	}
	return ""
}

// checkOut writes a revision's files to dir.
func checkOut(commit, dir, work string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	archive := filepath.Join(work, "tree.tar")
	if _, err := git("archive", "--format=tar", "--output="+archive, commit); err != nil {
		return err
	}
	if out, err := exec.Command("tar", "-C", dir, "-xf", archive).CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, out)
	}
	return nil
}

func git(args ...string) (string, error) {
	var stderr strings.Builder
	cmd := exec.Command("git", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}
