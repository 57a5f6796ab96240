package memory_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// attack is what the process that attacks is told, by its environment.
type attack struct {
	address  string   // of the server
	metrics  []string // who posts for which
	large    string   // a metric whose answer is large
	bodySize int
	readers  int
	metadata int
}

// newRequest returns a request of admin's.
func newRequest(ctx context.Context, method, address, path string, body []byte) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.SetBasicAuth("admin", "")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// statuses counts answers by question and by status; 0 is a connection that broke.
type statuses struct {
	mu     sync.Mutex
	counts map[string]map[int]int
}

func (s *statuses) add(what string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = make(map[string]map[int]int)
	}
	if s.counts[what] == nil {
		s.counts[what] = make(map[int]int)
	}
	s.counts[what][status]++
}

// run attacks until ctx ends, and returns what was answered.
func (a *attack) run(ctx context.Context) *statuses {
	var answers statuses
	var attackers sync.WaitGroup
	measures := measuresNow(a.bodySize)
	for _, metric := range a.metrics {
		attackers.Go(func() { a.post(ctx, "measures", "/v1/metric/"+metric+"/measures", measures, &answers) })
	}
	document := []byte("[" + strings.Repeat("{},", 4_000_000/3) + "{}]")
	for range a.metadata {
		attackers.Go(func() { a.post(ctx, "metadata", "/v1/search/resource/generic", document, &answers) })
	}
	for range a.readers {
		attackers.Go(func() { a.read(ctx, &answers) })
	}
	attackers.Wait()
	return &answers
}

// measuresNow returns a body of about that many bytes, which the decoder's fast path does not take.
func measuresNow(size int) []byte {
	const measure = `{"timestamp":"now","value":1}`
	return []byte("[" + strings.Repeat(measure+",", size/(len(measure)+1)) + measure + "]")
}

// post sends a body again and again.
func (a *attack) post(ctx context.Context, what, path string, body []byte, answers *statuses) {
	client := &http.Client{Transport: &http.Transport{}}
	for ctx.Err() == nil {
		response, err := client.Do(newRequest(ctx, http.MethodPost, a.address, path, body))
		if err != nil {
			if ctx.Err() == nil {
				answers.add(what, 0)
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		answers.add(what, response.StatusCode)
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusAccepted {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// read asks for the large answer and reads no more than its status, again whenever the server cuts it off.
func (a *attack) read(ctx context.Context, answers *statuses) {
	for ctx.Err() == nil {
		status := a.readOnce(ctx)
		if ctx.Err() == nil || status != 0 {
			answers.add("readers", status)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (a *attack) readOnce(ctx context.Context) (status int) {
	connection, err := net.Dial("tcp", a.address)
	if err != nil {
		return 0
	}
	defer connection.Close()
	connection.(*net.TCPConn).SetReadBuffer(4 << 10)
	if newRequest(ctx, http.MethodGet, a.address, "/v1/metric/"+a.large+"/measures", nil).Write(connection) != nil {
		return 0
	}
	defer context.AfterFunc(ctx, func() { connection.Close() })()
	var code int
	if _, err := fmt.Fscanf(bufio.NewReaderSize(connection, 64), "HTTP/1.1 %d ", &code); err != nil {
		return 0
	}
	if code == http.StatusOK {
		// A byte a second keeps the connection without reading it: its end shows that the server gave up.
		for one := make([]byte, 1); ctx.Err() == nil; time.Sleep(time.Second) {
			if _, err := connection.Read(one); err != nil {
				return code
			}
		}
	}
	return code
}

// TestAttack is the process that attacks, on one core.
func TestAttack(t *testing.T) {
	address := os.Getenv("GNOCCO_ATTACK")
	if address == "" {
		t.Skip("TestMemoryStaysBounded runs it")
	}
	pin(t, 0)
	var a attack
	var metrics string
	if _, err := fmt.Sscan(address, &a.address, &metrics, &a.large, &a.bodySize, &a.readers, &a.metadata); err != nil {
		t.Fatal(err)
	}
	a.metrics = strings.Split(metrics, ",")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // the parent closes the pipe when it is time
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	fmt.Println("answers:", a.run(ctx).counts)
}
