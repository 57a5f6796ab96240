package collectd_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/listener/collectd"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// sink shows the series that a datagram becomes, and the reasons of refusals.
type sink []string

func (s *sink) AddHead([]byte, carbonara.Timestamp, float64) { panic("datagrams have no heads") }

func (s *sink) Add(labels series.Labels, at carbonara.Timestamp, value float64) {
	var batch series.Batch
	_ = batch.Add(labels, at, value)
	text := ""
	if name, err := batch.Name(0); err != nil {
		text = err.Error()
	} else {
		text = name.Metric
		for label, value := range name.Labels.All() {
			if label != "__name__" {
				text += " " + label + "=" + value
			}
		}
	}
	*s = append(*s, fmt.Sprint(text, " ", value, " ", int64(at)))
}

func (s *sink) Refuse(reason string, _ []byte) { *s = append(*s, reason) }

func part(kind uint16, payload []byte) []byte {
	data := binary.BigEndian.AppendUint16(nil, kind)
	return append(binary.BigEndian.AppendUint16(data, uint16(4+len(payload))), payload...)
}

func text(kind uint16, text string) []byte { return part(kind, append([]byte(text), 0)) }

func number(kind uint16, n uint64) []byte { return part(kind, binary.BigEndian.AppendUint64(nil, n)) }

// values is a part of values: float64 is a gauge, int64 derive, uint64 counter and int absolute.
func values(list ...any) []byte {
	payload := binary.BigEndian.AppendUint16(nil, uint16(len(list)))
	var numbers []byte
	for _, v := range list {
		switch v := v.(type) {
		case uint64:
			payload, numbers = append(payload, 0), binary.BigEndian.AppendUint64(numbers, v)
		case float64:
			payload, numbers = append(payload, 1), binary.LittleEndian.AppendUint64(numbers, math.Float64bits(v))
		case int64:
			payload, numbers = append(payload, 2), binary.BigEndian.AppendUint64(numbers, uint64(v))
		case int:
			payload, numbers = append(payload, 3), binary.BigEndian.AppendUint64(numbers, uint64(v))
		}
	}
	return part(6, append(payload, numbers...))
}

func sign(user, password string, data []byte) []byte {
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write(append([]byte(user), data...))
	return append(part(0x200, append(mac.Sum(nil), user...)), data...)
}

func encrypt(user, password string, data []byte) []byte {
	sum, key, vector := sha1.Sum(data), sha256.Sum256([]byte(password)), make([]byte, aes.BlockSize)
	block, _ := aes.NewCipher(key[:])
	hidden := append(sum[:], data...)
	//lint:ignore SA1019 it is collectd's protocol
	cipher.NewOFB(block, vector).XORKeyStream(hidden, hidden)
	payload := append(binary.BigEndian.AppendUint16(nil, uint16(len(user))), user...)
	return part(0x210, append(append(payload, vector...), hidden...))
}

func newDecoder(t testing.TB, least collectd.Security) *collectd.Decoder {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users")
	fatal.If(t, os.WriteFile(path, []byte("# senders\nann: se:cret\n\nbob:x"), 0o600))
	users, err := collectd.ReadUsers(path)
	fatal.If(t, err)
	db := filepath.Join(t.TempDir(), "types.db")
	fatal.If(t, os.WriteFile(db,
		[]byte("# types\n\nif_octets\trx:DERIVE:0:U, tx:DERIVE:0:U\nif\t\told:GAUGE:0:U\n"), 0o600))
	types, err := collectd.ReadTypes(db)
	fatal.If(t, err)
	d, err := collectd.New(users, least, types)
	fatal.If(t, err)
	return d
}

// load is a datagram of one gauge.
var load = slices.Concat(text(0, "web-1"), number(1, 60), text(2, "load"), text(4, "load"), values(0.5))

const loaded = "collectd_load host=web-1 plugin=load type=load 0.5 60000000000"

func TestDecoder(t *testing.T) {
	f := func(least collectd.Security, data []byte, want ...string) {
		t.Helper()
		var got sink
		newDecoder(t, least).Decode(data, 7, &got)
		if !slices.Equal(got, want) {
			t.Errorf("%x:\n%s\nwant\n%s", data, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	f(collectd.Plain, nil)
	f(collectd.Plain, load, loaded)
	f(collectd.Plain, slices.Concat(text(0, "h"), number(8, 60<<30|1<<29), text(2, "cpu-x"), text(3, "0"), text(4, "if"),
		text(5, "eth/0"), number(7, 10), values(int64(-3), uint64(4)), text(3, ""), text(5, ""), values(5), values(math.NaN())),
		"collectd_cpu_x_if_total host=h plugin=cpu-x plugin_instance=0 type=if type_instance=eth/0 value=0 -3 60500000000",
		"collectd_cpu_x_if_total host=h plugin=cpu-x plugin_instance=0 type=if type_instance=eth/0 value=1 4 60500000000",
		"collectd_cpu_x_if host=h plugin=cpu-x type=if 5 60500000000")
	f(collectd.Plain, slices.Concat(text(0, "h"), number(1, 60), text(2, "if"), text(4, "if_octets"), values(1.5, 2.5)),
		"collectd_if_if_octets host=h plugin=if type=if_octets value=rx 1.5 60000000000",
		"collectd_if_if_octets host=h plugin=if type=if_octets value=tx 2.5 60000000000")
	for _, bad := range [][]byte{{0}, {0, 0, 0, 3}, {0, 0, 0, 9, 0}, text(0, "\xff"), part(0, []byte("x")), part(6, nil),
		part(6, []byte{0, 1, 1, 0}), part(6, make([]byte, 12)), number(1, 1<<40), part(1, []byte{1}),
		values(math.Inf(1)), part(6, []byte{0, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0})} {
		f(collectd.Plain, slices.Concat(load, bad), loaded, "form")
	}
	for _, least := range []collectd.Security{collectd.Plain, collectd.Sign} {
		f(least, sign("ann", "se:cret", load), loaded)
		f(least, encrypt("ann", "se:cret", load), loaded)
	}
	f(collectd.Sign, load, "security")
	f(collectd.Encrypt, sign("ann", "se:cret", load), "security")
	f(collectd.Encrypt, encrypt("bob", "x", load), loaded)
	f(collectd.Encrypt, slices.Concat(encrypt("bob", "x", load), load), loaded, "security")
	f(collectd.Plain, sign("ann", "wrong", load), "signature")
	f(collectd.Plain, sign("eve", "x", load), "signature")
	f(collectd.Plain, append(sign("ann", "se:cret", load), load...), "signature")
	f(collectd.Plain, encrypt("ann", "wrong", load), "encryption")
	f(collectd.Plain, encrypt("eve", "x", load), "encryption")
	f(collectd.Plain, part(0x200, make([]byte, 32)), "signature")
	f(collectd.Plain, part(0x210, []byte{255, 255, 1}), "encryption")
	if _, err := collectd.New(nil, collectd.Sign, nil); err == nil {
		t.Error("no users are enough to verify")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(load)
	f.Add(sign("ann", "se:cret", load))
	f.Add(encrypt("ann", "se:cret", load))
	d := newDecoder(f, collectd.Plain)
	f.Fuzz(func(t *testing.T, data []byte) {
		d.Decode(data, 7, finite{new(sink), t})
	})
}

// finite is a sink of finite values only.
type finite struct {
	*sink
	t *testing.T
}

func (s finite) Add(labels series.Labels, at carbonara.Timestamp, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		s.t.Errorf("value %v", value)
	}
	s.sink.Add(labels, at, value)
}

func (finite) Refuse(string, []byte) {}

// A file of types has names of values; a later file replaces a type of an earlier one.
func TestReadTypes(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "types.db")
		fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	types, err := collectd.ReadTypes(file("load\ta:GAUGE:0:1, b:GAUGE:0:1\nx y:GAUGE:U:U\n"), file("load c:GAUGE:0:U,d:GAUGE:0:U"))
	if err != nil || fmt.Sprint(types) != "map[load:[c d] x:[y]]" {
		t.Errorf("%v, %v", types, err)
	}
	for _, text := range []string{"load a", "load :GAUGE:0:1"} {
		if _, err := collectd.ReadTypes(file("# x\n" + text)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := collectd.ReadTypes("/nothing"); err == nil {
		t.Error("a file that is not there has types")
	}
}
