package device_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/tests/cutest"
)

// kernel is what device code becomes on the host: y = x·times, and the sum of x.
const kernel = `
#include <stdint.h>
struct params { const double *x; double *y; int64_t n; double times; };
void scale_host(const void *packed, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared) {
    const struct params *p = packed;
    (void)gy; (void)gz; (void)by; (void)bz; (void)shared;
    for (uint64_t i = 0; i < (uint64_t)gx * bx && i < (uint64_t)p->n; i++) p->y[i] = p->x[i] * p->times;
}
`

// image is the same for a device.
var image = []byte(`.version 6.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 n, .param .f64 times)
{
	.reg .pred %beyond;
	.reg .b32 %r<3>;
	.reg .b64 %i<6>;
	.reg .f64 %v<2>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %i0, %r0, %r1;
	cvt.u64.u32 %i1, %r2;
	add.s64 %i0, %i0, %i1;
	ld.param.u64 %i2, [n];
	setp.ge.s64 %beyond, %i0, %i2;
	@%beyond ret;
	ld.param.u64 %i3, [x];
	ld.param.u64 %i4, [y];
	ld.param.f64 %v0, [times];
	shl.b64 %i5, %i0, 3;
	add.s64 %i3, %i3, %i5;
	add.s64 %i4, %i4, %i5;
	ld.global.f64 %v1, [%i3];
	mul.rn.f64 %v1, %v1, %v0;
	st.global.f64 [%i4], %v1;
	ret;
}
`)

// fake opens the fake driver with the kernel above.
func fake(t testing.TB) *cutest.Driver {
	t.Helper()
	driver := cutest.Open(t)
	library := filepath.Join(devicetest.Folder(), "libkernel.so")
	if _, err := os.Stat(library); err != nil {
		source := filepath.Join(devicetest.Folder(), "kernel.c")
		fatal.If(t, os.WriteFile(source, []byte(kernel), 0o600))
		cutest.Compile(t, library, source)
	}
	driver.LoadKernels(library)
	return driver
}

// program is what a user of the device keeps about it.
type program struct {
	device *device.Device
	scale  cu.Function
}

func load(t testing.TB, dev *device.Device) *program {
	t.Helper()
	p := &program{device: dev}
	fatal.If(t, dev.Do(t.Context(), p.load))
	return p
}

func (p *program) load(e *device.Engine) error {
	module, err := e.Load(image)
	if err != nil {
		return err
	}
	p.scale, err = module.Function("scale")
	return err
}

// scaling multiplies in by times, on the device.
type scaling struct {
	program *program
	in, out []float64
	times   float64

	result *device.Pinned
	starts int // how often it was started
}

func (s *scaling) Start(e *device.Engine, stream *device.Stream) error {
	s.starts++
	bytes := int64(len(s.in)) * 8
	up, err := e.Uploads.Get(bytes)
	if err != nil {
		return err
	}
	stream.Hold(up)
	copy(device.View[float64](up, 0, len(s.in)), s.in)
	if s.result, err = e.Downloads.Get(bytes); err != nil {
		return err
	}
	stream.Hold(s.result)
	x, err := e.Memory.Get(bytes)
	if err != nil {
		return err
	}
	stream.Hold(x)
	y, err := e.Memory.Get(bytes)
	if err != nil {
		return err
	}
	stream.Hold(y)
	if err := stream.Upload(x, 0, up, 0, bytes); err != nil {
		return err
	}
	if err := s.launch(stream, x, y); err != nil {
		return err
	}
	return stream.Download(s.result, 0, y, 0, bytes)
}

func (s *scaling) launch(stream *device.Stream, x, y *device.Block) error {
	n := len(s.in)
	stream.Params().Ptr(x.At(0)).Ptr(y.At(0)).I64(int64(n)).F64(s.times)
	return stream.Launch(s.program.scale, (n+255)/256, 256, 0)
}

func (s *scaling) Finish(*device.Engine, *device.Stream) (bool, error) {
	copy(s.out, device.View[float64](s.result, 0, len(s.in)))
	return false, nil
}

// newScaling is a job with n numbers that depend on seed.
func newScaling(p *program, n, seed int) *scaling {
	s := &scaling{program: p, in: make([]float64, n), out: make([]float64, n), times: float64(seed%7) + 0.5}
	for i := range s.in {
		s.in[i] = float64((i*31 + seed*17) % 1009)
	}
	return s
}

// check reports whether a job's result is what it should be.
func (s *scaling) check(t testing.TB) {
	t.Helper()
	for i, x := range s.in {
		if s.out[i] != x*s.times {
			t.Errorf("out[%d] of %d is %v, want %v", i, len(s.out), s.out[i], x*s.times)
			return
		}
	}
}
