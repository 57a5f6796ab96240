package cu_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// plusOne adds 1 to n words.
const plusOne = `.version 6.0
.target sm_70
.address_size 64
.visible .entry plus_one(.param .u64 words, .param .u32 n)
{
	.reg .pred %beyond;
	.reg .b32 %r<5>;
	.reg .b64 %i<2>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r0, %r0, %r1, %r2;
	ld.param.u32 %r3, [n];
	setp.ge.u32 %beyond, %r0, %r3;
	@%beyond ret;
	ld.param.u64 %i0, [words];
	mul.wide.u32 %i1, %r0, 4;
	add.s64 %i0, %i0, %i1;
	ld.global.u32 %r4, [%i0];
	add.u32 %r4, %r4, 1;
	st.global.u32 [%i0], %r4;
	ret;
}
`

// A process has one driver: this test uses the system's. On a machine with a device, run it alone: -run OnDevice.
func TestOnDevice(t *testing.T) {
	if err := cu.Open(cu.Options{}); errors.Is(err, cu.ErrUnavailable) {
		t.Skip("no CUDA device here")
	} else if err != nil {
		t.Fatal(err)
	}
	device := must(cu.GetDevice(0))
	name := must(device.Name())
	if strings.HasPrefix(name, "Fake") {
		t.Skip("this process has the fake driver")
	}
	major, minor, err := device.ComputeCapability()
	t.Logf("%s, %d.%d, %v; driver %d", name, major, minor, err, must(cu.Version()))
	current(t)

	if _, err := cu.LoadData([]byte(".version 6.0\n.target sm_70\n.address_size 64\nnonsense\n")); !errors.Is(err,
		cu.InvalidPTX) ||
		!strings.Contains(err.Error(), "CUDA_ERROR_INVALID_PTX (218)") || !strings.Contains(err.Error(), "line 4") {
		t.Error(err)
	}
	module := must(cu.LoadData([]byte(plusOne)))
	kernel := must(module.Function("plus_one"))
	if _, err := module.Function("plus_two"); !errors.Is(err, cu.NotFound) {
		t.Error(err)
	}
	fatal.If(t, kernel.SetAttribute(cu.FnMaxDynamicSharedBytes, 64<<10))

	const n = 1 << 20
	at := must(cu.MemHostAlloc(n*4, cu.HostAllocPortable))
	words := unsafe.Slice((*uint32)(at), n)
	copy(words, slices.Repeat([]uint32{41}, n))
	address := must(cu.MemAlloc(n * 4))
	stream := must(cu.MakeStream(cu.NonBlocking))
	start, end := must(cu.MakeEvent(cu.DefaultEvent)), must(cu.MakeEvent(cu.DefaultEvent))
	fatal.If(t, start.Record(stream), cu.MemcpyHtoDAsync(address, at, n*4, stream),
		kernel.Launch(n/256, 1, 1, 256, 1, 1, 64<<10, stream, new(cu.Params).Ptr(address).U32(n-1)), end.Record(stream),
		cu.MemcpyDtoHAsync(at, address, n*4, stream), stream.Synchronize(), end.Query())
	want := slices.Repeat([]uint32{42}, n)
	want[n-1] = 41
	if !slices.Equal(words, want) {
		t.Error("the kernel did something else")
	}
	fatal.If(t, cu.MemFreeHost(at))
	if ms, err := start.Elapsed(end); err != nil || ms <= 0 {
		t.Error(ms, err)
	}
	fatal.If(t, cu.DestroyEvent(start), cu.DestroyEvent(end), stream.Destroy(), cu.MemFree(address), module.Unload())
}

// BenchmarkOnDeviceCall is the cost of calling the driver at all.
func BenchmarkOnDeviceCall(b *testing.B) {
	if err := cu.Open(cu.Options{}); err != nil {
		b.Skip("no CUDA device here")
	}
	b.ReportAllocs()
	for b.Loop() {
		fatal.If(b, cu.SetCurrentContext(cu.CUContext{}))
	}
}
