//go:build amd64

#include "textflag.h"

// The passes of passes.go, eight numbers at a time. Each has the plain form's operations in the plain form's order, none fused but
// where the result is exact, so that the bits are the same. What is left after the last eight is masked: n is at least 1.

// LANES makes K1 the mask of min(CX, 8) lanes; it is all ones before the first. AX is lost.
#define LANES(full) \
	CMPQ CX, $8 \
	JGE  full   \
	MOVL $1, AX \
	SHLL CX, AX \
	DECL AX     \
	KMOVW AX, K1

#define ALL_LANES \
	MOVL $0xff, AX \
	KMOVW AX, K1

#define BROADCAST(bits, register) \
	MOVQ bits, AX \
	VPBROADCASTQ AX, register

// RANK replaces the bits of floats by their ranks.
#define RANK(register, other) \
	VPSRAQ $63, register, other \
	VPSRLQ $1, other, other     \
	VPXORQ other, register, register

#define MAX_DECIMAL $0x4340000000000000
#define MINUS_MAX_DECIMAL $0xc340000000000000

// QUOTIENT is a / b, of whole a: rounded as a division is, by Markstein's theorem, whose conditions hold (y is 1/b rounded; the first
// step leaves an error of one unit in the last place at most; nothing over- or underflows), and four times as fast.
#define QUOTIENT(a, b, y, q, rest) \
	VMULPD y, a, q            \
	VMOVAPD a, rest           \
	VFNMADD231PD b, q, rest   \
	VFMADD231PD y, rest, q    \
	VMOVAPD a, rest           \
	VFNMADD231PD b, q, rest   \
	VFMADD231PD y, rest, q

#define ONE $0x3ff0000000000000

// func lowHighLanes(low, high *[8]int64, ints *int64, n int)
TEXT ·lowHighLanes(SB), NOSPLIT, $0-32
	MOVQ low+0(FP), DI
	MOVQ high+8(FP), DX
	MOVQ ints+16(FP), SI
	MOVQ n+24(FP), CX
	ALL_LANES
	VPBROADCASTQ (SI), Z1
	VMOVDQA64 Z1, Z2
lowHigh:
	LANES(lowHighFull)
lowHighFull:
	VMOVDQU64.Z (SI), K1, Z0
	VPMINSQ Z0, Z1, K1, Z1
	VPMAXSQ Z0, Z2, K1, Z2
	ADDQ $64, SI
	SUBQ $8, CX
	JG   lowHigh
	VMOVDQU64 Z1, (DI)
	VMOVDQU64 Z2, (DX)
	VZEROUPPER
	RET

// func zoneLanes(low, high *[8]int64, values *float64, n int)
TEXT ·zoneLanes(SB), NOSPLIT, $0-32
	MOVQ low+0(FP), DI
	MOVQ high+8(FP), DX
	MOVQ values+16(FP), SI
	MOVQ n+24(FP), CX
	ALL_LANES
	VMOVDQU64 (DI), Z1
	VMOVDQU64 (DX), Z2
zone:
	LANES(zoneFull)
zoneFull:
	VMOVUPD.Z (SI), K1, Z0
	VCMPPD $7, Z0, Z0, K1, K2 // no NaN
	RANK(Z0, Z3)
	VPMINSQ Z0, Z1, K2, Z1
	VPMAXSQ Z0, Z2, K2, Z2
	ADDQ $64, SI
	SUBQ $8, CX
	JG   zone
	VMOVDQU64 Z1, (DI)
	VMOVDQU64 Z2, (DX)
	VZEROUPPER
	RET

// func subtractLanes(dst *uint64, ints *int64, n int, base int64) (all uint64)
TEXT ·subtractLanes(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ n+16(FP), CX
	BROADCAST(base+24(FP), Z1)
	ALL_LANES
	VPXORQ Z2, Z2, Z2
subtract:
	LANES(subtractFull)
subtractFull:
	VMOVDQU64.Z (SI), K1, Z0
	VPSUBQ Z1, Z0, Z0
	VMOVDQU64 Z0, K1, (DI)
	VPORQ Z0, Z2, K1, Z2
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   subtract
	VEXTRACTI64X4 $1, Z2, Y1
	VPORQ Y1, Y2, Y2
	VEXTRACTI128 $1, Y2, X1
	VPOR X1, X2, X2
	VPSRLDQ $8, X2, X1
	VPOR X1, X2, X2
	VMOVQ X2, all+32(FP)
	VZEROUPPER
	RET

// func zigzagLanes(dst *uint64, ints *int64, n int, base int64, shift int)
TEXT ·zigzagLanes(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ n+16(FP), CX
	BROADCAST(base+24(FP), Z1)
	VMOVQ shift+32(FP), X3
	ALL_LANES
zigzag:
	LANES(zigzagFull)
zigzagFull:
	VMOVDQU64.Z (SI), K1, Z0
	VPSUBQ Z1, Z0, Z0
	VPSRAQ X3, Z0, Z0
	VPSRAQ $63, Z0, Z2
	VPSLLQ $1, Z0, Z0
	VPXORQ Z2, Z0, Z0
	VMOVDQU64 Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   zigzag
	VZEROUPPER
	RET

// func differenceLanes(dst, a, b *int64, n int)
TEXT ·differenceLanes(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	ALL_LANES
difference:
	LANES(differenceFull)
differenceFull:
	VMOVDQU64.Z (SI), K1, Z0
	VMOVDQU64.Z (DX), K1, Z1
	VPSUBQ Z1, Z0, Z0
	VMOVDQU64 Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DX
	ADDQ $64, DI
	SUBQ $8, CX
	JG   difference
	VZEROUPPER
	RET

// func addLanes(dst, ints *int64, n int)
TEXT ·addLanes(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ n+16(FP), CX
	ALL_LANES
add:
	LANES(addFull)
addFull:
	VMOVDQU64.Z (SI), K1, Z0
	VMOVDQU64.Z (DI), K1, Z1
	VPADDQ Z1, Z0, Z0
	VMOVDQU64 Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   add
	VZEROUPPER
	RET

// func lengthLanes(lengths *[miniValues]uint8, above *[64]uint8, numbers *uint64, n int) (widest int)
TEXT ·lengthLanes(SB), NOSPLIT, $0-40
	MOVQ lengths+0(FP), DI
	MOVQ above+8(FP), R8
	MOVQ numbers+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ CX, R9
	SHRQ $2, R9 // a quarter
	BROADCAST($64, Z4)
	ALL_LANES
	VPXORQ Z2, Z2, Z2
	VMOVDQU64 Z2, (DI)
	VMOVDQU64 Z2, 64(DI)
	MOVQ DI, R10
length:
	LANES(lengthFull)
lengthFull:
	VMOVDQU64.Z (SI), K1, Z0
	VPORQ Z0, Z2, Z2
	VPLZCNTQ Z0, Z0
	VPSUBQ Z0, Z4, Z0
	VPMOVQB Z0, K1, (R10)
	ADDQ $64, SI
	ADDQ $8, R10
	SUBQ $8, CX
	JG   length
	VEXTRACTI64X4 $1, Z2, Y1
	VPORQ Y1, Y2, Y2
	VEXTRACTI128 $1, Y2, X1
	VPOR X1, X2, X2
	VPSRLDQ $8, X2, X1
	VPOR X1, X2, X2
	VMOVQ X2, AX
	XORL BX, BX
	TESTQ AX, AX
	JZ   lengthDone
	BSRQ AX, BX
	INCQ BX
lengthDone:
	MOVQ BX, widest+32(FP)
	VMOVDQU64 (DI), Z0
	VMOVDQU64 64(DI), Z1
lengthAbove:
	DECQ BX
	JL   lengthEnd
	VPBROADCASTB BX, Z3
	VPCMPUB $6, Z3, Z0, K2
	VPCMPUB $6, Z3, Z1, K3
	KMOVQ K2, AX
	KMOVQ K3, DX
	POPCNTQ AX, AX
	POPCNTQ DX, DX
	ADDQ DX, AX
	MOVB AX, (R8)(BX*1)
	CMPQ AX, R9
	JLE  lengthAbove
lengthEnd:
	VZEROUPPER
	RET

// func decimalLanes(ints, residuals *int64, bad *uint8, values *float64, n int, power float64) (any int64)
TEXT ·decimalLanes(SB), NOSPLIT, $0-56
	MOVQ ints+0(FP), DI
	MOVQ residuals+8(FP), DX
	MOVQ bad+16(FP), R8
	MOVQ values+24(FP), SI
	MOVQ n+32(FP), CX
	VBROADCASTSD power+40(FP), Z10
	BROADCAST(MAX_DECIMAL, Z11)
	BROADCAST(MINUS_MAX_DECIMAL, Z12)
	BROADCAST($1048576, Z13)  // maxResidual
	BROADCAST($-1048576, Z14)
	BROADCAST(ONE, Z15)
	VDIVPD Z10, Z15, Z15
	VPXORQ Z9, Z9, Z9
	ALL_LANES
decimal:
	LANES(decimalFull)
decimalFull:
	VMOVUPD.Z (SI), K1, Z0
	VMULPD Z10, Z0, Z1
	VCMPPD $18, Z11, Z1, K1, K2 // <=
	VCMPPD $29, Z12, Z1, K2, K2 // >=
	VCVTPD2QQ Z1, K2, Z2        // to the nearest even
	VMOVDQU64 Z2, K1, (DI)
	VCVTQQ2PD Z2, Z1
	QUOTIENT(Z1, Z10, Z15, Z3, Z4)
	RANK(Z0, Z4)
	RANK(Z3, Z4)
	VPSUBQ.Z Z3, Z0, K2, Z0
	VMOVDQU64 Z0, K1, (DX)
	VPORQ Z0, Z9, Z9
	VPCMPQ $2, Z13, Z0, K2, K2  // <=
	VPCMPQ $5, Z14, Z0, K2, K2  // >=
	KANDNW K1, K2, K3
	KMOVW K3, AX
	MOVB AX, (R8)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, DX
	INCQ R8
	SUBQ $8, CX
	JG   decimal
	VEXTRACTI64X4 $1, Z9, Y1
	VPORQ Y1, Y9, Y9
	VEXTRACTI128 $1, Y9, X1
	VPOR X1, X9, X9
	VPSRLDQ $8, X9, X1
	VPOR X1, X9, X9
	VMOVQ X9, any+48(FP)
	VZEROUPPER
	RET

// FIX brings r, from -m to below 2m, to its remainder by m.
#define FIX(r, m, zero) \
	VCMPPD $17, zero, r, K3 \
	VADDPD m, r, K3, r      \
	VCMPPD $29, m, r, K3    \
	VSUBPD m, r, K3, r

// MOMENT_BASE finds, of the counts in Z0 and sums in Z1: 2n in Z2, 1/2n in Z3, r in Z5, n * 10^2e in Z6, and K2, the mask of those
// that count and sum fit; the others have 0 in all but Z3. Z10 and Z11 are the powers, Z12 to Z16 constants. What follows from counts
// stays, in Z3, Z20 to Z22 and K7, as long as these do. All numbers are whole floats below 2^53, so that the remainders, in fused
// steps, are exact.
#define MOMENT_BASE(same) \
	VCMPPD $0, Z0, Z20, K3         \
	KORTESTB K3, K3                \
	JCS  same                      \
	VMOVAPD Z0, Z20                \
	VCMPPD $29, Z14, Z0, K7        \
	VCMPPD $18, Z15, Z0, K7, K7    \
	VRNDSCALEPD $9, Z0, Z4         \
	VCMPPD $0, Z4, Z0, K7, K7      \
	VADDPD.Z Z0, Z0, K7, Z21       \
	VDIVPD Z21, Z14, Z3            \
	VMULPD.Z Z11, Z0, K7, Z22      \
same:                                  \
	VMULPD Z10, Z1, Z1             \
	VCMPPD $17, Z12, Z1, K7, K2    \
	VCMPPD $30, Z13, Z1, K2, K2    \
	VMOVAPD.Z Z21, K2, Z2          \
	VMOVAPD.Z Z22, K2, Z6          \
	VRNDSCALEPD $8, Z1, Z5         \
	VMULPD Z3, Z5, Z4              \
	VRNDSCALEPD $9, Z4, Z4         \
	VFNMADD231PD Z2, Z4, Z5        \
	FIX(Z5, Z2, Z16)               \
	VSUBPD Z5, Z0, Z7              \
	VCMPPD $17, Z16, Z7, K3        \
	VADDPD Z2, Z7, K3, Z7          \
	VMULPD Z7, Z5, Z5              \
	VMULPD Z3, Z5, Z4              \
	VRNDSCALEPD $9, Z4, Z4         \
	VFNMADD231PD Z2, Z4, Z5        \
	FIX(Z5, Z2, Z16)               \
	VMOVAPD.Z Z5, K2, Z5

#define MOMENT_CONSTANTS \
	BROADCAST(MAX_DECIMAL, Z12)            \
	BROADCAST(MINUS_MAX_DECIMAL, Z13)      \
	BROADCAST($0x3ff0000000000000, Z14)    \ // 1
	BROADCAST($0x4130000000000000, Z15)    \ // maxMomentCount
	VPXORQ Z16, Z16, Z16                   \
	VPTERNLOGQ $0xff, Z20, Z20, Z20        // NaN: no count

// func momentLanes(ints, residuals *int64, bad *uint8, values, counts, sums *float64, n int, power, square float64) (any int64)
TEXT ·momentLanes(SB), NOSPLIT, $0-80
	MOVQ ints+0(FP), DI
	MOVQ residuals+8(FP), DX
	MOVQ bad+16(FP), R8
	MOVQ values+24(FP), SI
	MOVQ counts+32(FP), R9
	MOVQ sums+40(FP), R10
	MOVQ n+48(FP), CX
	VBROADCASTSD power+56(FP), Z10
	VBROADCASTSD square+64(FP), Z11
	MOMENT_CONSTANTS
	BROADCAST($1048576, Z17) // maxResidual
	BROADCAST($-1048576, Z18)
	VPXORQ Z9, Z9, Z9
	ALL_LANES
moment:
	LANES(momentFull)
momentFull:
	VMOVUPD.Z (R9), K1, Z0
	VMOVUPD.Z (R10), K1, Z1
	MOMENT_BASE(momentSame)
	VMOVUPD.Z (SI), K1, Z0
	VMULPD Z6, Z0, Z1
	VCMPPD $17, Z12, Z1, K2, K2
	VCMPPD $30, Z13, Z1, K2, K2
	VSUBPD Z5, Z1, Z1
	VMULPD Z3, Z1, Z1
	VCVTPD2QQ.Z Z1, K2, Z1
	VMOVDQU64 Z1, K1, (DI)
	VCVTPD2QQ Z2, Z2
	VCVTPD2QQ Z5, Z5
	VPMULLQ Z2, Z1, Z1
	VPADDQ Z5, Z1, Z1
	VCVTQQ2PD Z1, Z7
	VDIVPD Z6, Z7, Z7
	RANK(Z0, Z4)
	RANK(Z7, Z4)
	VPSUBQ.Z Z7, Z0, K2, Z0
	VMOVDQU64 Z0, K1, (DX)
	VPORQ Z0, Z9, Z9
	VPCMPQ $2, Z17, Z0, K2, K2 // <=
	VPCMPQ $5, Z18, Z0, K2, K2 // >=
	KANDNW K1, K2, K3
	KMOVW K3, AX
	MOVB AX, (R8)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, DX
	ADDQ $64, R9
	ADDQ $64, R10
	INCQ R8
	SUBQ $8, CX
	JG   moment
	VEXTRACTI64X4 $1, Z9, Y1
	VPORQ Y1, Y9, Y9
	VEXTRACTI128 $1, Y9, X1
	VPOR X1, X9, X9
	VPSRLDQ $8, X9, X1
	VPOR X1, X9, X9
	VMOVQ X9, any+72(FP)
	VZEROUPPER
	RET

// func momentFloatLanes(out *float64, ints *int64, counts, sums *float64, n int, power, square float64)
TEXT ·momentFloatLanes(SB), NOSPLIT, $0-56
	MOVQ out+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ counts+16(FP), R9
	MOVQ sums+24(FP), R10
	MOVQ n+32(FP), CX
	VBROADCASTSD power+40(FP), Z10
	VBROADCASTSD square+48(FP), Z11
	MOMENT_CONSTANTS
	ALL_LANES
momentFloat:
	LANES(momentFloatFull)
momentFloatFull:
	VMOVUPD.Z (R9), K1, Z0
	VMOVUPD.Z (R10), K1, Z1
	MOMENT_BASE(momentFloatSame)
	VMOVDQU64.Z (SI), K1, Z0
	VCVTPD2QQ Z2, Z2
	VCVTPD2QQ Z5, Z5
	VPMULLQ Z2, Z0, Z0
	VPADDQ Z5, Z0, Z0
	VCVTQQ2PD Z0, Z0
	VDIVPD Z6, Z0, Z0
	VMOVUPD Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, R9
	ADDQ $64, R10
	SUBQ $8, CX
	JG   momentFloat
	VZEROUPPER
	RET

// func meanLanes(out, sums, counts *float64, n int)
TEXT ·meanLanes(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ counts+16(FP), DX
	MOVQ n+24(FP), CX
	ALL_LANES
mean:
	LANES(meanFull)
meanFull:
	VMOVUPD.Z (SI), K1, Z0
	VMOVUPD.Z (DX), K1, Z1
	VDIVPD Z1, Z0, Z0
	VMOVUPD Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DX
	ADDQ $64, DI
	SUBQ $8, CX
	JG   mean
	VZEROUPPER
	RET

// func predictLanes(out *int64, means *float64, n int, power float64)
TEXT ·predictLanes(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ means+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD power+24(FP), Z10
	BROADCAST(MAX_DECIMAL, Z11)
	BROADCAST(MINUS_MAX_DECIMAL, Z12)
	ALL_LANES
predict:
	LANES(predictFull)
predictFull:
	VMOVUPD.Z (SI), K1, Z0
	VMULPD Z10, Z0, Z0
	VCMPPD $17, Z11, Z0, K2
	VCMPPD $30, Z12, Z0, K2, K2
	VCVTPD2QQ.Z Z0, K2, Z0
	VMOVDQU64 Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   predict
	VZEROUPPER
	RET

// func spreadLanes(expected *int64, scales *uint8, means, counts, lows, highs *float64, n int, power float64)
TEXT ·spreadLanes(SB), NOSPLIT, $0-64
	MOVQ expected+0(FP), DI
	MOVQ scales+8(FP), DX
	MOVQ means+16(FP), SI
	MOVQ counts+24(FP), R8
	MOVQ lows+32(FP), R9
	MOVQ highs+40(FP), R10
	MOVQ n+48(FP), CX
	VBROADCASTSD power+56(FP), Z10
	BROADCAST(MAX_DECIMAL, Z11)
	BROADCAST($0x3fe0000000000000, Z12) // 1/2
	BROADCAST($0x3fd0000000000000, Z13) // 1/4
	BROADCAST($64, Z14)
	VPXORQ Z15, Z15, Z15
	ALL_LANES
spread:
	LANES(spreadFull)
spreadFull:
	VMOVUPD.Z (SI), K1, Z0
	VMOVUPD.Z (R8), K1, Z1
	VMOVUPD.Z (R9), K1, Z2
	VMOVUPD.Z (R10), K1, Z3
	VMULPD Z10, Z0, Z0
	VMULPD Z10, Z2, Z2
	VMULPD Z10, Z3, Z3
	VSUBPD Z2, Z0, Z2 // a
	VSUBPD Z0, Z3, Z3 // b
	VMULPD Z2, Z2, Z4
	VMULPD Z3, Z3, Z5
	VADDPD Z5, Z4, Z4
	VMULPD Z12, Z4, Z4 // least
	VMULPD Z2, Z1, Z1
	VMULPD Z3, Z1, Z1
	VMULPD Z12, Z1, Z1
	VSUBPD Z4, Z1, Z1
	VMAXPD Z1, Z15, Z1 // way; NaN stays
	VADDPD Z1, Z4, Z5
	VCMPPD $17, Z11, Z5, K2
	VMULPD Z13, Z1, Z5
	VADDPD Z5, Z4, Z4
	VCVTPD2QQ.Z Z4, K2, Z4
	VMOVDQU64 Z4, K1, (DI)
	VCVTTPD2QQ.Z Z1, K2, Z1
	VPLZCNTQ Z1, Z1
	VPSUBQ Z1, Z14, Z1
	VPMOVQB Z1, K1, (DX)
	ADDQ $64, SI
	ADDQ $64, R8
	ADDQ $64, R9
	ADDQ $64, R10
	ADDQ $64, DI
	ADDQ $8, DX
	SUBQ $8, CX
	JG   spread
	VZEROUPPER
	RET

// func floatLanes(out *float64, ints *int64, n int, power float64)
TEXT ·floatLanes(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD power+24(FP), Z10
	BROADCAST(ONE, Z11)
	VDIVPD Z10, Z11, Z11
	ALL_LANES
float:
	LANES(floatFull)
floatFull:
	VMOVDQU64.Z (SI), K1, Z0
	VCVTQQ2PD Z0, Z0
	QUOTIENT(Z0, Z10, Z11, Z1, Z2)
	VMOVUPD Z1, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   float
	VZEROUPPER
	RET

// func predictedFloatLanes(out *float64, ints, predictions *int64, n int, power float64)
TEXT ·predictedFloatLanes(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ predictions+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSD power+32(FP), Z10
	BROADCAST(ONE, Z11)
	VDIVPD Z10, Z11, Z11
	ALL_LANES
predictedFloat:
	LANES(predictedFloatFull)
predictedFloatFull:
	VMOVDQU64.Z (SI), K1, Z0
	VMOVDQU64.Z (DX), K1, Z1
	VPADDQ Z1, Z0, Z0
	VCVTQQ2PD Z0, Z0
	QUOTIENT(Z0, Z10, Z11, Z1, Z2)
	VMOVUPD Z1, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DX
	ADDQ $64, DI
	SUBQ $8, CX
	JG   predictedFloat
	VZEROUPPER
	RET

// func besideLanes(out *float64, residuals *int64, n int)
TEXT ·besideLanes(SB), NOSPLIT, $0-24
	MOVQ out+0(FP), DI
	MOVQ residuals+8(FP), SI
	MOVQ n+16(FP), CX
	ALL_LANES
beside:
	LANES(besideFull)
besideFull:
	VMOVUPD.Z (DI), K1, Z0
	RANK(Z0, Z1)
	VPADDQ.Z (SI), Z0, K1, Z0
	RANK(Z0, Z1)
	VMOVUPD Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   beside
	VZEROUPPER
	RET

// func unpackLanes(dst *int64, n int, codes *byte, codeBits int, widths *[maxClasses]int64, scales *uint8, src *byte, length int) (done, bits int)
TEXT ·unpackLanes(SB), NOSPLIT, $0-80
	MOVQ dst+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ codes+16(FP), SI
	MOVQ codeBits+24(FP), R8
	MOVQ widths+32(FP), R9
	MOVQ scales+40(FP), R10
	MOVQ src+48(FP), R11
	MOVQ length+56(FP), R12
	VPBROADCASTQ (R9), Z10
	VPBROADCASTQ 8(R9), Z11
	VPBROADCASTQ 16(R9), Z12
	VPBROADCASTQ 24(R9), Z13
	BROADCAST($56, Z14) // maxClassWidth
	BROADCAST($7, Z15)
	VPXORQ Z16, Z16, Z16
	VPTERNLOGQ $0xff, Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18 // bits taken, in all lanes
	XORL R13, R13        // numbers done
	XORL R15, R15        // bits taken
	ALL_LANES
	SUBQ $8, R12         // the last byte that a word may begin at
	JL   unpackEnd
	// Where the low and the high bits of eight codes lie.
	XORL DX, DX
	XORL BX, BX
	CMPQ R8, $1
	JLT  unpackNext
	JGT  unpackTwo
	MOVL $0xff, DX
	JMP  unpackNext
unpackTwo:
	MOVL $0x5555, DX
	MOVL $0xaaaa, BX
unpackNext:
	TESTQ CX, CX
	JLE  unpackEnd
	LANES(unpackFull)
unpackFull:
	XORL AX, AX
	CMPQ R8, $1
	JLT  unpackWidths
	JGT  unpackWord
	MOVBLZX (SI), AX
	JMP  unpackWidths
unpackWord:
	MOVWLZX (SI), AX
unpackWidths:
	PEXTL DX, AX, R9
	KMOVW R9, K4
	PEXTL BX, AX, R9
	KMOVW R9, K2
	VPBLENDMQ Z11, Z10, K4, Z0
	VPBLENDMQ Z13, Z12, K4, Z1
	VPBLENDMQ Z1, Z0, K2, Z0
	VMOVDQA64.Z Z0, K1, Z0
	TESTQ R10, R10
	JZ   unpackPlaces
	VPMOVZXBQ.Z (R10), K1, Z1
	VPADDQ Z1, Z0, Z0
	VPMAXSQ Z16, Z0, Z0
	VPCMPQ $6, Z14, Z0, K3 // >
	KORTESTW K3, K3
	JNZ  unpackTooWide
	ADDQ $8, R10
unpackPlaces:
	// The sum of the widths before each number, and with it.
	VALIGNQ $7, Z16, Z0, Z1
	VPADDQ Z1, Z0, Z2
	VALIGNQ $6, Z16, Z2, Z1
	VPADDQ Z1, Z2, Z2
	VALIGNQ $4, Z16, Z2, Z1
	VPADDQ Z1, Z2, Z2
	VPADDQ Z18, Z2, Z2
	VPSUBQ Z0, Z2, Z1
	VPERMQ Z1, Z15, Z3
	VMOVQ X3, AX
	SHRQ $3, AX
	CMPQ AX, R12
	JGT  unpackEnd
	VPERMQ Z2, Z15, Z18
	VMOVQ X18, R15
	VPSRLQ $3, Z1, Z3
	KXNORW K3, K3, K3
	VPXORQ Z4, Z4, Z4
	VPGATHERQQ (R11)(Z3*1), K3, Z4
	VPANDQ Z15, Z1, Z1
	VPSRLVQ Z1, Z4, Z4
	VPSLLVQ Z0, Z17, Z3
	VPANDNQ Z4, Z3, Z4
	VMOVDQU64 Z4, K1, (DI)
	ADDQ $64, DI
	ADDQ R8, SI
	ADDQ $8, R13
	SUBQ $8, CX
	JMP  unpackNext
unpackTooWide:
	MOVQ $-1, R15
unpackEnd:
	MOVQ R13, done+64(FP)
	MOVQ R15, bits+72(FP)
	VZEROUPPER
	RET

// func unclassLanes(ints *int64, n int, base int64, shift, signed int)
TEXT ·unclassLanes(SB), NOSPLIT, $0-40
	MOVQ ints+0(FP), DI
	MOVQ n+8(FP), CX
	BROADCAST(base+16(FP), Z10)
	VMOVQ shift+24(FP), X11
	BROADCAST(signed+32(FP), Z12) // 1 or 0
	VPXORQ Z13, Z13, Z13
	VMOVQ signed+32(FP), X14
	ALL_LANES
unclass:
	LANES(unclassFull)
unclassFull:
	VMOVDQU64.Z (DI), K1, Z0
	VPANDQ Z12, Z0, Z1
	VPSUBQ Z1, Z13, Z1
	VPSRLQ X14, Z0, Z0
	VPXORQ Z1, Z0, Z0
	VPSLLQ X11, Z0, Z0
	VPADDQ Z10, Z0, Z0
	VMOVDQU64 Z0, K1, (DI)
	ADDQ $64, DI
	SUBQ $8, CX
	JG   unclass
	VZEROUPPER
	RET

// func classLanes(pieces *uint64, sizes *uint8, codes *byte, codeBits int, numbers *uint64, scales *uint8, n int, table *classTable, together int)
TEXT ·classLanes(SB), NOSPLIT, $0-72
	MOVQ pieces+0(FP), DI
	MOVQ sizes+8(FP), DX
	MOVQ codes+16(FP), R8
	MOVQ codeBits+24(FP), R9
	MOVQ numbers+32(FP), SI
	MOVQ scales+40(FP), R10
	MOVQ n+48(FP), CX
	MOVQ table+56(FP), R11
	MOVQ together+64(FP), R12
	VPBROADCASTQ (R11), Z10   // thresholds
	VPBROADCASTQ 8(R11), Z11
	VPBROADCASTQ 16(R11), Z12
	VPBROADCASTQ 24(R11), Z13 // widths
	VPBROADCASTQ 32(R11), Z14
	VPBROADCASTQ 40(R11), Z15
	VPBROADCASTQ 48(R11), Z16
	BROADCAST($64, Z17)
	VPXORQ Z18, Z18, Z18
	BROADCAST($-128, Z19) // what no number needs needs this
	ALL_LANES
class:
	LANES(classFull)
classFull:
	VMOVDQU64.Z (SI), K1, Z0
	VPLZCNTQ Z0, Z1
	VPSUBQ Z1, Z17, Z1
	TESTQ R10, R10
	JZ   classCode
	VPMOVZXBQ.Z (R10), K1, Z2
	VPSUBQ Z2, Z1, Z1
	VPTESTNMQ Z0, Z0, K5
	VMOVDQA64 Z19, K5, Z1
	ADDQ $8, R10
classCode:
	VPCMPQ $6, Z10, Z1, K1, K2 // >
	VPCMPQ $6, Z11, Z1, K1, K3
	VPCMPQ $6, Z12, Z1, K1, K4
	VMOVDQA64.Z Z13, K1, Z3
	VMOVDQA64 Z14, K2, Z3
	VMOVDQA64 Z15, K3, Z3
	VMOVDQA64 Z16, K4, Z3
	TESTQ R10, R10
	JZ   classPut
	VPADDQ Z2, Z3, Z3
	VPMAXSQ Z18, Z3, Z3
classPut:
	CMPQ R9, $1
	JLT  classJoin
	JGT  classTwo
	KMOVW K2, AX
	MOVB AX, (R8)
	INCQ R8
	JMP  classJoin
classTwo:
	KXORW K2, K3, K5
	KXORW K4, K5, K5
	KMOVW K5, AX
	KMOVW K3, BX
	MOVL $0x5555, R13
	PDEPL R13, AX, AX
	PDEPL R13, BX, BX
	LEAL (AX)(BX*2), AX
	MOVW AX, (R8)
	ADDQ $2, R8
classJoin:
	CMPQ R12, $2
	JLT  classStore
	VPSRLDQ $8, Z0, Z4
	VPSLLVQ Z3, Z4, Z4
	VPORQ Z4, Z0, Z0
	VPSRLDQ $8, Z3, Z4
	VPADDQ Z4, Z3, Z3
	CMPQ R12, $4
	JLT  classStore
	VALIGNQ $2, Z0, Z0, Z4
	VPSLLVQ Z3, Z4, Z4
	VPORQ Z4, Z0, Z0
	VALIGNQ $2, Z3, Z3, Z4
	VPADDQ Z4, Z3, Z3
classStore:
	VMOVDQU64 Z0, (DI)
	VPMOVQB Z3, (DX)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $8, DX
	SUBQ $8, CX
	JG   class
	VZEROUPPER
	RET

// func sortLanes(samples *orderSamples, costs *[4]int64, n int, pairs *[2]uint8, number int)
TEXT ·sortLanes(SB), NOSPLIT, $0-40
	MOVQ samples+0(FP), DI
	MOVQ costs+8(FP), DX
	MOVQ n+16(FP), R8
	MOVQ pairs+24(FP), SI
	MOVQ number+32(FP), CX
sort:
	MOVBLZX (SI), AX
	MOVBLZX 1(SI), BX
	SHLQ $5, AX
	SHLQ $5, BX
	VMOVDQU (DI)(AX*1), Y0
	VMOVDQU (DI)(BX*1), Y1
	VPMINSQ Y1, Y0, Y2
	VPMAXSQ Y1, Y0, Y3
	VMOVDQU Y2, (DI)(AX*1)
	VMOVDQU Y3, (DI)(BX*1)
	ADDQ $2, SI
	DECQ CX
	JNZ  sort
	MOVQ R8, AX
	SHRQ $1, AX
	SHLQ $5, AX
	VMOVDQU (DI)(AX*1), Y4 // medians
	MOVQ $64, AX
	VPBROADCASTQ AX, Y5
	VPXOR Y6, Y6, Y6
cost:
	VMOVDQU (DI), Y0
	VPSUBQ Y4, Y0, Y0
	VPSRAQ $63, Y0, Y1
	VPADDQ Y0, Y0, Y0
	VPXOR Y1, Y0, Y0
	VPLZCNTQ Y0, Y0
	VPSUBQ Y0, Y5, Y0
	VPADDQ Y0, Y6, Y6
	ADDQ $32, DI
	DECQ R8
	JNZ  cost
	VMOVDQU Y6, (DX)
	VZEROUPPER
	RET
