package main_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A deletion of the newest measures leaves the older groups readable, at any time: the measures that are left do not
// say which finer groups have expired.
func TestHistoryWithoutItsEnd(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data)
	const hours = 6
	now := time.Now().Unix()
	begin := (now - 40*86400) / 3600 * 3600
	for _, name := range []string{"end", "lasthour"} {
		var values, timestamps []string
		for at := begin; at < begin+hours*3600; at += 15 {
			values, timestamps = append(values, fmt.Sprint(at/15%7)), append(timestamps, fmt.Sprint(at*1000))
		}
		values, timestamps = append(values, "1"), append(timestamps, fmt.Sprint(now*1000))
		s.call(http.MethodPost, "/api/v1/import", fmt.Sprintf(`{"metric":{"__name__":%q},"values":[%s],"timestamps":[%s]}`,
			name, strings.Join(values, ","), strings.Join(timestamps, ",")), http.StatusNoContent, nil)
	}
	s.end(syscall.SIGTERM) // a checkpoint, in which groups expire
	s = serve(t, "--data", data)
	remove := "/api/v1/admin/tsdb/delete_series?match[]="
	s.call(http.MethodPost, remove+fmt.Sprint("end&start=", now-60), "", http.StatusNoContent, nil)
	s.call(http.MethodPost, remove+fmt.Sprint("lasthour&start=", begin+(hours-1)*3600), "", http.StatusNoContent, nil)
	for _, name := range []string{"end", "lasthour"} {
		for _, at := range []int64{2 * 3600, 2*3600 - 60, 2*3600 + 7, 3*3600 + 600} {
			var answer struct {
				Data struct{ Result []struct{ Value [2]any } }
			}
			s.call(http.MethodGet, fmt.Sprintf("/api/v1/query?query=count_over_time(%s[1h])&time=%d", name, begin+at), "",
				http.StatusOK, &answer)
			if got := fmt.Sprint(answer.Data.Result); !strings.HasSuffix(got, " 240]}]") {
				t.Errorf("%s, %d s after its begin: %s", name, at, got)
			}
		}
	}
}
