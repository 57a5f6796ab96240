//go:build amd64

#include "textflag.h"

// The loops of simd_generic.go, eight values at a time. Each does the same operations in the same order, none fused but
// where the result is exact, so that the bits are the same. What is left after the last eight is masked: n is at least 1.

// NEXT_MASK makes K1 the mask of min(CX, 8) lanes; it is all ones before the first. AX is lost.
#define NEXT_MASK(full) \
	CMPQ CX, $8 \
	JGE  full   \
	MOVL $1, AX \
	SHLL CX, AX \
	DECL AX     \
	KMOVW AX, K1

#define FULL_MASK \
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

// func orderedRangeAVX512(low, high *[8]int64, values *float64, n int)
TEXT ·orderedRangeAVX512(SB), NOSPLIT, $0-32
	MOVQ low+0(FP), DI
	MOVQ high+8(FP), DX
	MOVQ values+16(FP), SI
	MOVQ n+24(FP), CX
	FULL_MASK
	VMOVDQU64 (DI), Z1
	VMOVDQU64 (DX), Z2
zone:
	NEXT_MASK(zoneFull)
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

// func decimalsAVX512(ints, residuals *int64, bad *uint8, values *float64, n int, power float64) (any int64)
TEXT ·decimalsAVX512(SB), NOSPLIT, $0-56
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
	FULL_MASK
decimal:
	NEXT_MASK(decimalFull)
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

// func momentIntsAVX512(ints, residuals *int64, bad *uint8, values, counts, sums *float64, n int, power, square float64) (any int64)
TEXT ·momentIntsAVX512(SB), NOSPLIT, $0-80
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
	FULL_MASK
moment:
	NEXT_MASK(momentFull)
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

// func momentFloatsAVX512(out *float64, ints *int64, counts, sums *float64, n int, power, square float64)
TEXT ·momentFloatsAVX512(SB), NOSPLIT, $0-56
	MOVQ out+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ counts+16(FP), R9
	MOVQ sums+24(FP), R10
	MOVQ n+32(FP), CX
	VBROADCASTSD power+40(FP), Z10
	VBROADCASTSD square+48(FP), Z11
	MOMENT_CONSTANTS
	FULL_MASK
momentFloat:
	NEXT_MASK(momentFloatFull)
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

// func meansAVX512(out, sums, counts *float64, n int)
TEXT ·meansAVX512(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ counts+16(FP), DX
	MOVQ n+24(FP), CX
	FULL_MASK
mean:
	NEXT_MASK(meanFull)
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

// func predictionsAVX512(out *int64, means *float64, n int, power float64)
TEXT ·predictionsAVX512(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ means+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD power+24(FP), Z10
	BROADCAST(MAX_DECIMAL, Z11)
	BROADCAST(MINUS_MAX_DECIMAL, Z12)
	FULL_MASK
predict:
	NEXT_MASK(predictFull)
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

// func momentBoundsAVX512(expected *int64, scales *uint8, means, counts, lows, highs *float64, n int, power float64)
TEXT ·momentBoundsAVX512(SB), NOSPLIT, $0-64
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
	FULL_MASK
spread:
	NEXT_MASK(spreadFull)
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

// func floatsAVX512(out *float64, ints *int64, n int, power float64)
TEXT ·floatsAVX512(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD power+24(FP), Z10
	BROADCAST(ONE, Z11)
	VDIVPD Z10, Z11, Z11
	FULL_MASK
float:
	NEXT_MASK(floatFull)
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

// func predictedFloatsAVX512(out *float64, ints, predictions *int64, n int, power float64)
TEXT ·predictedFloatsAVX512(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ predictions+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSD power+32(FP), Z10
	BROADCAST(ONE, Z11)
	VDIVPD Z10, Z11, Z11
	FULL_MASK
predictedFloat:
	NEXT_MASK(predictedFloatFull)
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

// func addULPsAVX512(out *float64, residuals *int64, n int)
TEXT ·addULPsAVX512(SB), NOSPLIT, $0-24
	MOVQ out+0(FP), DI
	MOVQ residuals+8(FP), SI
	MOVQ n+16(FP), CX
	FULL_MASK
addULPs:
	NEXT_MASK(besideFull)
besideFull:
	VMOVUPD.Z (DI), K1, Z0
	RANK(Z0, Z1)
	VPADDQ.Z (SI), Z0, K1, Z0
	RANK(Z0, Z1)
	VMOVUPD Z0, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   addULPs
	VZEROUPPER
	RET

