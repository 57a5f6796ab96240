package main

import (
	"fmt"
	"os"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	panel    = 8
	rowBytes = panel * 8
)

func main() {
	if err := os.Chdir("../../correlate/tile"); err != nil { // from this module's folder
		fmt.Fprintln(os.Stderr, "tilegen:", err)
		os.Exit(1)
	}
	build.ConstraintExpr("amd64")
	avx512()
	avx2()
	measureAVX512()
	packAVX512()
	build.Generate()
}

// avx512 keeps 24 rows of 8 sums in registers: each value of b is loaded once, each of a is the memory operand of one
// multiply-add that broadcasts it.
func avx512() {
	build.TEXT("gramAVX512", build.NOSPLIT, "func(dst, a0, a1, a2, b *float64, rows int)")
	build.Pragma("noescape")
	build.Doc("gramAVX512 sets dst to the products of three panels with b.")
	dst := build.Load(build.Param("dst"), build.GP64())
	var a [3]reg.Register
	for i, name := range []string{"a0", "a1", "a2"} {
		a[i] = build.Load(build.Param(name), build.GP64())
	}
	b := build.Load(build.Param("b"), build.GP64())
	rows := build.Load(build.Param("rows"), build.GP64())
	var sums [3 * panel]reg.VecVirtual
	for i := range sums {
		sums[i] = build.ZMM()
		build.VPXORQ(sums[i], sums[i], sums[i])
	}
	y := build.ZMM()
	build.Label("loop512")
	build.VMOVUPD(operand.Mem{Base: b}, y)
	for i := range sums {
		build.VFMADD231PD_BCST(operand.Mem{Base: a[i/panel], Disp: i % panel * 8}, y, sums[i])
	}
	for _, pointer := range append(a[:], b) {
		build.ADDQ(operand.Imm(rowBytes), pointer)
	}
	build.DECQ(rows)
	build.JNZ(operand.LabelRef("loop512"))
	for i, sum := range sums {
		build.VMOVUPD(sum, operand.Mem{Base: dst, Disp: i * rowBytes})
	}
	build.VZEROUPPER()
	build.RET()
}

// avx2 has 16 registers: it goes over the rows twice, for four columns of a at a time.
func avx2() {
	build.TEXT("gramAVX2", build.NOSPLIT, "func(dst, a, b *float64, rows int)")
	build.Pragma("noescape")
	build.Doc("gramAVX2 sets dst to the products of one panel with b.")
	dst := build.Load(build.Param("dst"), build.GP64())
	firstA := build.Load(build.Param("a"), build.GP64())
	firstB := build.Load(build.Param("b"), build.GP64())
	rows := build.Load(build.Param("rows"), build.GP64())
	a, b, left := build.GP64(), build.GP64(), build.GP64()
	for half, label := range []string{"loopLow", "loopHigh"} {
		var sums [4][2]reg.VecVirtual
		for i := range sums {
			for j := range sums[i] {
				sums[i][j] = build.YMM()
				build.VXORPD(sums[i][j], sums[i][j], sums[i][j])
			}
		}
		build.MOVQ(firstA, a)
		build.MOVQ(firstB, b)
		build.MOVQ(rows, left)
		y := [2]reg.VecVirtual{build.YMM(), build.YMM()}
		x := build.YMM()
		build.Label(label)
		for j := range y {
			build.VMOVUPD(operand.Mem{Base: b, Disp: j * 32}, y[j])
		}
		for i := range sums {
			build.VBROADCASTSD(operand.Mem{Base: a, Disp: (half*4 + i) * 8}, x)
			for j := range y {
				build.VFMADD231PD(y[j], x, sums[i][j])
			}
		}
		build.ADDQ(operand.Imm(rowBytes), a)
		build.ADDQ(operand.Imm(rowBytes), b)
		build.DECQ(left)
		build.JNZ(operand.LabelRef(label))
		for i := range sums {
			for j := range y {
				build.VMOVUPD(sums[i][j], operand.Mem{Base: dst, Disp: (half*4+i)*rowBytes + j*32})
			}
		}
	}
	build.VZEROUPPER()
	build.RET()
}
