package console_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "folder to write pictures of the pages to")

// patience is how long a test waits for something to appear. A machine may be busy.
const patience = 2 * time.Minute

var browser struct {
	once    sync.Once
	context context.Context
	cancel  func()
	err     error
}

func TestMain(m *testing.M) {
	status := m.Run()
	if browser.cancel != nil {
		browser.cancel()
	}
	os.Exit(status)
}

// tab is a tab of the browser, without anything of other tests.
type tab struct {
	t       *testing.T
	context context.Context
	server  string

	mutex sync.Mutex
	wrong []string // what the page said on its console, or asked of another server
	allow string   // part of its allowed messages
}

// chromium returns the browser's program. Without one, or with -short, the test is skipped.
func chromium(t *testing.T) (program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	return program
}

// open returns a tab that shows a page of a server's console.
func open(t *testing.T, server, address string) *tab {
	t.Helper()
	program := chromium(t)
	browser.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
			chromedp.WSURLReadTimeout(patience), chromedp.Flag("disable-dev-shm-usage", true),
			chromedp.Flag("lang", "en-US"), chromedp.Env("TZ=UTC"))
		allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
		browser.context, _ = chromedp.NewContext(allocator)
		browser.cancel = cancel
		browser.err = chromedp.Do(browser.context)
	})
	check(t, browser.err)
	return openIn(t, browser.context, server, address, chromedp.WithNewBrowserContext())
}

// beside returns another tab of the same visitor.
func (b *tab) beside(address string) *tab {
	b.t.Helper()
	other := openIn(b.t, b.context, b.server, address)
	other.allow = b.allow
	return other
}

func openIn(t *testing.T, parent context.Context, server, address string, options ...chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{t: t, server: server}
	ctx, cancel := chromedp.NewContext(parent, append(options, chromedp.WithListener(b.listen))...)
	t.Cleanup(cancel)
	t.Cleanup(b.judge)
	b.context = ctx
	check(t, chromedp.Do(ctx)) // opens the tab, which lives as long as ctx
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	b.size(1280, 860)
	run(b, chromedp.Navigate(server+"/ui/"+address))
	return b
}

func (b *tab) listen(event any) {
	complain := func(format string, args ...any) {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
	}
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complain("exception: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			complain("console: %v", e.Args)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			complain("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.server+"/") && !strings.HasPrefix(url, "blob:") &&
			url != "about:blank" {
			complain("request to %s", url)
		}
	}
}

// judge fails the test if the page complained. A message of the Content-Security-Policy is never allowed.
func (b *tab) judge() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, text := range b.wrong {
		if b.allow == "" || !strings.Contains(text, b.allow) || strings.Contains(text, "Content Security Policy") {
			b.t.Error(text)
		}
	}
}

// run does one action, in time.
func run[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.context, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	check(b.t, err)
	return value
}

// call sends one command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], parameters P) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.context, patience)
	defer cancel()
	answer, err := chromedp.Call(ctx, command, parameters)
	check(b.t, err)
	return answer
}

// size gives the page this many pixels.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height,
		DeviceScaleFactor: 1})
}

// eval returns what an expression of the page is.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression))
}

// visitHash goes to a page of the console that is open.
func (b *tab) visitHash(address string) {
	b.t.Helper()
	b.act(fmt.Sprintf("location.hash = %q", "#/"+address))
}

// act lets the page do something.
func (b *tab) act(statement string) {
	b.t.Helper()
	eval[bool](b, "("+statement+", true)")
}

// wait waits until an expression of the page is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if eval[bool](b, "!!("+expression+")") {
			return
		}
		if time.Now().After(end) {
			b.picture("failed")
			b.t.Fatalf("never: %s\n%s", expression, eval[string](b, "document.body.innerText"))
		}
	}
}

// box waits for an element, which the page may draw anew, and returns its left, top, width and height.
func (b *tab) box(selector string) (box []float64) {
	b.t.Helper()
	for end := time.Now().Add(patience); box == nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("no %s", selector)
		}
		box = eval[[]float64](b, fmt.Sprintf("(e => { if (!e) return null; const r = e.getBoundingClientRect();"+
			" return [r.left, r.top, r.width, r.height]; })(document.querySelector(%q))", selector))
	}
	return box
}

// waitText waits until a text is on the page.
func (b *tab) waitText(text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// click clicks on what a selector and a part of its text find.
func (b *tab) click(selector, text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("(e => e && (e.click(), true))([...document.querySelectorAll(%q)].find("+
		"e => e.textContent.includes(%q)))", selector, text)) // at once: the page may draw it anew
}

// texts returns the texts of all that a selector finds.
func (b *tab) texts(selector string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].map(e => e.textContent)", selector))
}

// picture writes what the tab shows, if pictures are asked for.
func (b *tab) picture(name string) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	png := run(b, chromedp.CaptureScreenshot())
	check(b.t, os.MkdirAll(*screenshots, 0o755))
	check(b.t, os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o644))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
