package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunks"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/losstest"
	"github.com/gnocco-db/gnocco/tests/promtest"
)

// Each measure of a random file is stored, or equal to one that is, or counted in what the command prints, and then the
// exit status is 2.
func TestImportedFilesLoseNothingSilently(t *testing.T) {
	t.Parallel()
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	users := 0
	// Series of one letter count. The times are ten minutes apart, so that no two share a group.
	door := func(command []string, stdin func(t *testing.T, body string) (text, file string)) func(t *testing.T,
		body string) ([]float64, losstest.Told) {
		return func(t *testing.T, body string) ([]float64, losstest.Told) {
			t.Helper()
			users++
			user := fmt.Sprint("user", users)
			text, file := stdin(t, body)
			_, stderr, status := run(t, text, slices.Concat([]string{"import"}, command,
				[]string{"--url", s.url, "--user", user, file})...)
			told := losstest.Told{Text: stderr}
			for _, count := range fileCounts {
				for _, m := range count.FindAllStringSubmatch(stderr, -1) {
					n, err := strconv.Atoi(m[1])
					fatal.If(t, err)
					told.Refused += n
				}
			}
			if want := 2 * min(told.Refused, 1); status != want {
				t.Errorf("%s\nexit status %d, want %d: %s", body, status, want, stderr)
			}
			return s.pushed(t, user), told
		}
	}
	asText := func(_ *testing.T, body string) (text, file string) { return body, "-" }
	at := func(seconds int) int { return 600 * (seconds - 59) }

	t.Run("CSV", func(t *testing.T) {
		begin := "time,series,v\n" // and enough lines for the forms of the columns
		for i := range 40 {
			begin += fmt.Sprintf("1970-01-01T01:%02d:00,ballast,%d.5\n", i, i)
		}
		losstest.Run(t, &losstest.Door{
			Element: func(series string, seconds, value int) string {
				return fmt.Sprintf("1970-01-01T00:%02d:00,%s,%d", at(seconds)/60, series, value)
			},
			Odd: []string{"noon,u,1", "1970-01-01T00:10:00,u,warm", "1970-01-01T00:10:00,u", "1970-01-01T00:10:00,u,1,2", "u",
				"1970-13-01T00:10:00,u,1", "1970-01-01T25:10:00,u,1", "2250-01-01T00:00:00,u,1", "1969-12-31T23:00:00,u,1",
				"1970-01-01T00:10:00,u,1e999", "1970-01-01T00:10:00,u,-1e999",
				"1970-01-01T00:10:00,u,0x10", "1970-01-01T00:10:00,u,1-2", "1970-01-01T00:10:00,u,1e-999",
				"1970-01-01T00:10:00," + strings.Repeat("u", 20_000) + ",1"},
			Join: func(elements ...string) string { return begin + strings.Join(elements, "\n") + "\n" },
			Send: door([]string{"csv", "--label-column", "series"}, asText),
		})
	})
	t.Run("JSON lines", func(t *testing.T) {
		losstest.Run(t, &losstest.Door{
			Element: func(series string, seconds, value int) string {
				return fmt.Sprintf(`{"metric":{"__name__":%q},"values":[%d],"timestamps":[%d000]}`, series, value, at(seconds))
			},
			Odd: oddLines(),
			Join: func(elements ...string) string { // the first line says what the file is
				return `{"metric":{"__name__":"z","series":"ballast"},"values":[1],"timestamps":[600000]}` + "\n" +
					strings.Join(elements, "\n")
			},
			Send: door([]string{"jsonl"}, asText),
		})
	})
	t.Run("blocks", func(t *testing.T) {
		losstest.Run(t, &losstest.Door{
			Element: func(series string, seconds, value int) string {
				return fmt.Sprint(series, " ", at(seconds), " ", value)
			},
			Odd: []string{"- 600 1", "- 1200 1", "u -600 1", "u 99999999999 1", strings.Repeat("u", 300) + " 600 1", "u -600 histogram",
				"\xff 600 1"},
			Send: door([]string{"blocks"}, func(t *testing.T, body string) (text, file string) { return "", blocksOf(t, body) }),
		})
	})
}

// oddLines returns lines of JSON that are refused.
func oddLines() (lines []string) {
	for _, rest := range []string{`"values":["x"],"timestamps":[600000]`, `"values":[1],"timestamps":[]`,
		`"values":5,"timestamps":[600000]`, `"values":[1],"timestamps":[-5]`,
		`"values":[1e999],"timestamps":[600000]`, `"values":[-1e999],"timestamps":[600000]`,
		`"values":[1e-999],"timestamps":[600000]`, `"values":[0x10],"timestamps":[600000]`,
		`"values":["0x10"],"timestamps":[600000]`, `"values":[1],"timestamps":[99999999999999]`} {
		lines = append(lines, `{"metric":{"__name__":"u"},`+rest+`}`)
	}
	for _, metric := range []string{`5`, `{}`, `{"__name__":5}`, `{"__name__":"u","of":null}`, `{"__name__":"u","of":5}`,
		`{"__name__":"u","of":"\ud800"}`, `{"__name__":"u","of":"1","of":"2"}`, `{"__name__":"u","of":"1","of":"1"}`,
		`{"__name__":"\udc00"}`, `{"__name__":"u","":"x"}`} {
		lines = append(lines, `{"metric":`+metric+`,"values":[1],"timestamps":[600000]}`)
	}
	return append(lines, `{`, `[]`, `5`, `{"metric":{"__name__":"u"},"values":[1],"timestamps":[600000]`)
}

// fileCounts are the numbers of measures that the archives do not have.
var fileCounts = []*regexp.Regexp{regexp.MustCompile(`rejected (\d+),`), regexp.MustCompile(`dropped by the server (\d+),`),
	regexp.MustCompile(`, refused (\d+)`), regexp.MustCompile(`(\d+) measures? replaced: a later (?:line|block)`)}

// blocksOf writes lines of a series, seconds and a value as blocks. A line with the series and time of an earlier one
// goes into a later block.
func blocksOf(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	var blocks []map[string][]chunks.Sample // by series
	for line := range strings.Lines(body) {
		fields := strings.Fields(line)
		series, text := fields[0], fields[2]
		seconds, err := strconv.ParseInt(fields[1], 10, 64)
		fatal.If(t, err)
		sample := promtest.Sample{MS: 1000 * seconds}
		if text == "histogram" {
			sample.Histogram = &histogram.FloatHistogram{Count: 3, Sum: 4}
		} else {
			sample.Value, err = strconv.ParseFloat(text, 64)
			fatal.If(t, err)
		}
		// The first block behind all that have the time, of a later one too: blocks are read in order.
		to := 0
		for i, block := range blocks {
			for _, other := range block[series] {
				if other.T() == sample.MS || other.Type() != sample.Type() {
					to = i + 1
				}
			}
		}
		if to == len(blocks) {
			blocks = append(blocks, map[string][]chunks.Sample{})
		}
		blocks[to][series] = append(blocks[to][series], sample)
	}
	for i, block := range blocks {
		var all []promtest.BlockSeries
		for series, samples := range block {
			slices.SortFunc(samples, func(a, b chunks.Sample) int { return int(a.T() - b.T()) })
			chunk, err := chunks.ChunkFromSamples(samples)
			fatal.If(t, err)
			set := labels.FromStrings("__name__", series, "job", "j")
			if series == "-" {
				set = labels.FromStrings("job", "j")
			}
			all = append(all, promtest.BlockSeries{Labels: set, Chunks: []chunks.Meta{chunk}})
		}
		promtest.WriteBlock(t, filepath.Join(dir, fmt.Sprintf("%03d", i)), `{"version":1}`, all...)
	}
	return dir
}

// pushed returns the measures of a user's series, without those of ballast.
func (s *served) pushed(t *testing.T, user string) (values []float64) {
	t.Helper()
	get := func(path string) []byte {
		request, err := http.NewRequest(http.MethodGet, s.url+path, http.NoBody)
		fatal.If(t, err)
		request.SetBasicAuth(user, "")
		response, err := http.DefaultClient.Do(request)
		fatal.If(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		fatal.If(t, err)
		return text
	}
	var metrics []struct{ ID string }
	fatal.If(t, json.Unmarshal(get("/v1/metric"), &metrics))
	for _, m := range metrics {
		get("/v1/metric/" + m.ID + "/measures?refresh=true")
	}
	for line := range strings.Lines(string(get("/api/v1/export?match[]={__name__=~%22.%2B%22}"))) {
		var one struct {
			Metric map[string]string
			Values []float64
		}
		fatal.If(t, json.Unmarshal([]byte(line), &one))
		if one.Metric["series"] != "ballast" {
			values = append(values, one.Values...)
		}
	}
	return values
}
