package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A client that sends all of its body before it reads finds the answer which refused it, and no reset connection.
func TestRefusedBodyIsAnswered(t *testing.T) {
	s := start(t, server.Options{MemoryBytes: 64 << 20, Cluster: cluster.Options{Data: data(t), Sacks: 1}})
	defer stop(t, s)
	body := strings.Repeat("m,host=a a=1 5\n", 3<<20) // more than the kernel takes, and than fits
	for _, header := range []string{fmt.Sprintf("Content-Length: %d", len(body)), "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		fatal.If(t, err)
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		request := fmt.Sprintf(
			"POST /v1/influxdb/write HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YWRtaW46\r\n%s\r\n\r\n", header)
		if strings.HasPrefix(header, "Transfer") {
			request += fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		} else {
			request += body
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Errorf("%s: %v", header, err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", header, err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge ||
			!strings.Contains(string(text), "bytes at most") {
			t.Errorf("%s: %d %s %v", header, answer.StatusCode, text, err)
		}
		_ = conn.Close()
	}
}
