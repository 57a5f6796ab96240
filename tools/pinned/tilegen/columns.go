package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// measureAVX512 takes eight values at a time, those that are finite by a mask, and keeps eight sums, lowest and highest
// values.
func measureAVX512() {
	build.TEXT("measureAVX512", build.NOSPLIT, "func(lanes *[3][8]float64, x *float64, eights int) int")
	build.Pragma("noescape")
	build.Doc("measureAVX512 adds eights of values to lanes and returns how many of them are finite.")
	lanes := build.Load(build.Param("lanes"), build.GP64())
	x := build.Load(build.Param("x"), build.GP64())
	eights := build.Load(build.Param("eights"), build.GP64())
	found, some := build.GP64(), build.GP64()
	build.XORQ(found, found)
	sum, low, high, zero, v, d := build.ZMM(), build.ZMM(), build.ZMM(), build.ZMM(), build.ZMM(), build.ZMM()
	state := []reg.VecVirtual{sum, low, high}
	for i, s := range state {
		build.VMOVUPD(operand.Mem{Base: lanes, Disp: i * rowBytes}, s)
	}
	build.VPXORQ(zero, zero, zero)
	finite := build.K()
	build.Label("loopMeasure")
	build.VMOVUPD(operand.Mem{Base: x}, v)
	build.VSUBPD(v, v, d) // NaN where v is, or is infinite
	build.VCMPPD(operand.Imm(0), zero, d, finite)
	build.VADDPD(v, sum, finite, sum)
	build.VMINPD(v, low, finite, low)
	build.VMAXPD(v, high, finite, high)
	build.KMOVW(finite, some.As32())
	build.POPCNTQ(some, some)
	build.ADDQ(some, found)
	build.ADDQ(operand.Imm(rowBytes), x)
	build.DECQ(eights)
	build.JNZ(operand.LabelRef("loopMeasure"))
	for i, s := range state {
		build.VMOVUPD(s, operand.Mem{Base: lanes, Disp: i * rowBytes})
	}
	build.VZEROUPPER()
	build.Store(found, build.ReturnIndex(0))
	build.RET()
}

// packAVX512 turns eight rows of eight columns at a time, in registers: pairs of columns, then pairs of pairs.
func packAVX512() {
	build.TEXT("packAVX512", build.NOSPLIT,
		"func(dst *float64, columns *[8]*float64, state *[4][8]float64, eights int)")
	build.Pragma("noescape")
	build.Doc("packAVX512 packs eights of rows; state is centres, scales, sums and squares.")
	dst := build.Load(build.Param("dst"), build.GP64())
	table := build.Load(build.Param("columns"), build.GP64())
	state := build.Load(build.Param("state"), build.GP64())
	var columns [panel]reg.GPVirtual
	for c := range columns {
		columns[c] = build.GP64()
		build.MOVQ(operand.Mem{Base: table, Disp: c * 8}, columns[c])
	}
	eights := build.Load(build.Param("eights"), build.GP64())
	var kept [4]reg.VecVirtual // centres, scales, sums, squares
	for i := range kept {
		kept[i] = build.ZMM()
		build.VMOVUPD(operand.Mem{Base: state, Disp: i * rowBytes}, kept[i])
	}
	at := build.GP64()
	build.XORQ(at, at)
	build.Label("loopPack")
	var even, odd [panel / 2]reg.VecVirtual // rows 0, 2, 4, 6 and 1, 3, 5, 7 of two columns
	for i := range even {
		x := build.ZMM()
		even[i], odd[i] = build.ZMM(), build.ZMM()
		build.VMOVUPD(operand.Mem{Base: columns[2*i], Index: at, Scale: 1}, x)
		second := operand.Mem{Base: columns[2*i+1], Index: at, Scale: 1}
		build.VUNPCKLPD(second, x, even[i])
		build.VUNPCKHPD(second, x, odd[i])
	}
	var rows [panel]reg.VecVirtual
	for first, pairs := range [][panel / 2]reg.VecVirtual{even, odd} {
		for half, choice := range []uint64{0x88, 0xDD} { // lanes 0 and 2, or 1 and 3
			left, right := build.ZMM(), build.ZMM()
			build.VSHUFF64X2(operand.Imm(choice), pairs[1], pairs[0], left)
			build.VSHUFF64X2(operand.Imm(choice), pairs[3], pairs[2], right)
			for later, choice := range []uint64{0x88, 0xDD} {
				row := build.ZMM()
				build.VSHUFF64X2(operand.Imm(choice), right, left, row)
				rows[first+2*half+4*later] = row
			}
		}
	}
	for k, row := range rows {
		build.Comment(fmt.Sprintf("row %d", k))
		build.VSUBPD(kept[0], row, row)
		build.VMULPD(kept[1], row, row)
		build.VMOVUPD(row, operand.Mem{Base: dst, Disp: k * rowBytes})
		build.VADDPD(row, kept[2], kept[2])
		build.VFMADD231PD(row, row, kept[3])
	}
	build.ADDQ(operand.Imm(rowBytes), at)
	build.ADDQ(operand.U32(panel*rowBytes), dst)
	build.DECQ(eights)
	build.JNZ(operand.LabelRef("loopPack"))
	for i := 2; i < 4; i++ {
		build.VMOVUPD(kept[i], operand.Mem{Base: state, Disp: i * rowBytes})
	}
	build.VZEROUPPER()
	build.RET()
}
