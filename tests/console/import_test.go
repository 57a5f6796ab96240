package console_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/client"
)

// bring opens the page that imports a file and drops one.
func (b *tab) bring(name, content string) {
	b.t.Helper()
	b.visitHash("import?tz=Europe/Berlin")
	b.wait("document.querySelector('.drop input')")
	b.act(fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([%q], %q));
		document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}));
	})()`, content, name))
}

// aggregatesOf returns the aggregates of a metric, as the API has them.
func aggregatesOf(t *testing.T, c *client.Client, resource, metric, granularity string) (all [][3]any) {
	t.Helper()
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/resource/generic/"+resource+"/metric/"+metric+
		"/measures?refresh=true&granularity="+granularity, nil, &all))
	return all
}

func (b *tab) imported() (sent, dropped int) {
	b.t.Helper()
	b.wait("document.querySelector('#done')")
	sent, err := strconv.Atoi(eval[string](b, "document.querySelector('#done').dataset.sent"))
	check(b.t, err)
	dropped, err = strconv.Atoi(eval[string](b, "document.querySelector('#done').dataset.dropped"))
	check(b.t, err)
	return sent, dropped
}

// The page shows a dropped file, and the groups that a policy keeps, before it sends anything. It names the lines that
// have no time or no number.
func TestAFileIsBrought(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "#/explore")
	b.click("a", "Bring a CSV file")
	b.wait("location.hash.startsWith('#/import')")
	const content = "Zeit;temperature;humidity;note\r\n15.01.2026 13:05;21,5;48;\"a;\"\"b\"\"\nc\"\r\n" +
		"15.01.2026 13:10;21,75;;x\r\n15.01.2026 13:15;odd;47;\r\nnever;1;2;\r\n15.01.2026 13:20;1.022,25;46;"
	b.bring("kitchen.csv", content)
	b.wait("document.querySelector('#plan')")
	if got := strings.Join(b.texts("#plan li"), "\n"); !strings.HasPrefix(got,
		"6 measures of temperature, humidity, from 2026-01-15 13:05:00 to 2026-01-15 13:20:00 UTC, one every 5 min.\n"+
			"low keeps each measure in a group of its own, by 5 min") ||
		!strings.Contains(got, "2 cells cannot be read and are left out: line 5: temperature is no number: odd; line 6: no time: never") {
		t.Errorf("%s", got)
	}
	if err := c.Do(t.Context(), http.MethodGet, "/v1/resource/generic/kitchen", nil, nil); !client.HasStatus(err, 404) {
		t.Errorf("something was sent before: %v", err)
	}
	eval[bool](b, axe+"\n;true")
	b.accessible("import")
	b.picture("import")
	b.click("form.bring button", "Import")
	if sent, dropped := b.imported(); sent != 6 || dropped != 0 {
		t.Errorf("sent %d, dropped %d", sent, dropped)
	}
	if got := fmt.Sprint(aggregatesOf(t, c, "kitchen", "temperature", "300")); got != "[[2026-01-15T13:05:00+00:00 300 21.5]"+
		" [2026-01-15T13:10:00+00:00 300 21.75] [2026-01-15T13:20:00+00:00 300 1022.25]]" {
		t.Error(got)
	}
	b.click("#done + a", "Draw them")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 2")

	// The same again changes nothing.
	b.bring("kitchen.csv", content)
	b.wait("document.querySelector('#plan')?.textContent.includes('kitchen has temperature, humidity already')")
	b.click("form.bring button", "Import")
	b.imported()
	if got := aggregatesOf(t, c, "kitchen", "humidity", "300"); len(got) != 3 {
		t.Error(got)
	}
}

// Measures that are finer than every archive policy are merged, which the page says before.
func TestAFineFileIsMerged(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "#/explore")
	var file strings.Builder
	file.WriteString("time,power\n")
	for i := range 3000 {
		fmt.Fprintf(&file, "%d,%d\n", 1767225600+10*i, i%7)
	}
	b.bring("meter.csv", file.String())
	b.wait("document.querySelector('#plan')")
	b.act("(e => { e.value = 'low'; e.dispatchEvent(new Event('change', {bubbles: true})) })([...document.querySelectorAll('form.bring select')].at(-1))")
	b.waitText("low keeps 100 groups of the 3,000 times, by 5 min")
	b.click("form.bring button", "Import")
	if sent, dropped := b.imported(); sent != 3000 || dropped != 0 {
		t.Errorf("sent %d, dropped %d", sent, dropped)
	}
	if got := aggregatesOf(t, c, "meter", "power", "300"); len(got) != 100 {
		t.Errorf("%d groups", len(got))
	}
}

// Times that can be read in two ways are asked about. An hour that comes twice is read in its order, one that a zone
// skips is refused.
func TestTimesOfAFile(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "#/explore")
	choose := func(label, value string) {
		t.Helper()
		b.wait(fmt.Sprintf(`(e => e && (e.value = %q, e.dispatchEvent(new Event('change', {bubbles: true})), true))(
			[...document.querySelectorAll('form.bring label')].find(l => l.textContent.includes(%q))?.querySelector('select'))`, value, label))
	}
	b.bring("two ways.csv", "date,v\n03/04/2026,1\n04/04/2026,2\n")
	b.waitText("The times can be read in several ways: choose one")
	if !eval[bool](b, "document.querySelector('form.bring button').disabled") {
		t.Error("an ambiguous file can be imported")
	}
	choose("Times are written as", "31/12/2026 23:59:59")
	b.waitText("from 2026-04-03 00:00:00 to 2026-04-04 00:00:00")

	var file strings.Builder
	file.WriteString("time,v\n2026-03-29 02:30,0\n") // an hour that Berlin has not
	berlin, err := time.LoadLocation("Europe/Berlin")
	check(t, err)
	begin := time.Date(2026, 10, 24, 23, 0, 0, 0, time.UTC)
	for i := range 8 {
		fmt.Fprintf(&file, "%s,%d\n", begin.Add(time.Duration(i)*30*time.Minute).In(berlin).Format("2006-01-02 15:04"), i)
	}
	b.bring("autumn.csv", file.String())
	choose("Zone of times without one", "Europe/Berlin")
	b.waitText("line 2: no time: 2026-03-29 02:30")
	b.click("form.bring button", "Import")
	b.imported()
	got := aggregatesOf(t, c, "autumn", "v", "300")
	if len(got) != 8 || got[0][0] != "2026-10-24T23:00:00+00:00" || got[7][0] != "2026-10-25T02:30:00+00:00" {
		t.Error(got)
	}
}

// The page reads files without a header, with Excel's line or comments above one, and with dates and times of day in
// two columns. It names cells and files that it leaves out.
func TestOddFilesAreBrought(t *testing.T) {
	s, _ := start(t, nil)
	b := open(t, s.URL(), "#/explore")
	f := func(content, want string) {
		t.Helper()
		b.bring(fmt.Sprintf("file %d.csv", len(content)), content)
		b.waitText(want)
	}
	f("2026-11-29 10:00,20.5\n2026-11-29 10:05,\n2026-11-29 10:10,22\n",
		"2 measures of column 2, from 2026-11-29 10:00:00 to 2026-11-29 10:10:00 UTC")
	f("1796000000;1,5;7\n1796000060;2,5;8\n", "4 measures of column 2, column 3, from 2026-11-30 00:53:20")
	f("sep=;\r\nTime;Temp\r\n29.11.2026 10:00;21,5\r\n", "1 measure of Temp, from 2026-11-29 10:00:00")
	f("# by a logger, in °C\n#\ntime,temp\n2026-11-29 10:00,1\nnever,2\n2026-11-29 10:05,3\n", "line 5: no time: never")
	f("date,time,v\n2026-11-29,10:00,1\n2026-11-29,10:05,2\n", "2 measures of v, from 2026-11-29 10:00:00 to 2026-11-29 10:05:00")
	f("time,a,b\n2026-11-29 10:00,1,2,3\n2026-11-29 10:05,1e400,2\n",
		"2 cells cannot be read and are left out: line 2: 4 cells in 3 columns; line 3: a is no number: 1e400")
	f("time,host,v\n2026-11-29 10:00,a,1\n2026-11-29 10:00,b,2\n", "gnocco import csv, with --metric-column")
	f("", "no rows with a time and a value")
	f("\x1f\u008b\b\x00\x00", "is no text")
	f(`{"time": "2026-11-29T10:00:00Z", "temp": 1}`, "gnocco import jsonl")
	f(`[{"time": "2026-11-29T10:00:00Z", "temp": 1}]`, "gnocco import jsonl")
	b.act(`(() => {
		const data = new DataTransfer();
		for (const name of ["a.csv", "b.csv"]) data.items.add(new File(["time,v\n1796000000,1\n"], name));
		document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}));
	})()`)
	b.waitText("2 files were dropped: bring one at a time")
}
