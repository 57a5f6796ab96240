//go:build amd64

#include "textflag.h"

// The loops of simd_generic.go, eight numbers at a time. Each does the same operations in the same order, none fused but
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

// func minMaxAVX512(low, high *[8]int64, ints *int64, n int)
TEXT ·minMaxAVX512(SB), NOSPLIT, $0-32
	MOVQ low+0(FP), DI
	MOVQ high+8(FP), DX
	MOVQ ints+16(FP), SI
	MOVQ n+24(FP), CX
	FULL_MASK
	VPBROADCASTQ (SI), Z1
	VMOVDQA64 Z1, Z2
minMax:
	NEXT_MASK(minMaxFull)
minMaxFull:
	VMOVDQU64.Z (SI), K1, Z0
	VPMINSQ Z0, Z1, K1, Z1
	VPMAXSQ Z0, Z2, K1, Z2
	ADDQ $64, SI
	SUBQ $8, CX
	JG   minMax
	VMOVDQU64 Z1, (DI)
	VMOVDQU64 Z2, (DX)
	VZEROUPPER
	RET

// func subtractBaseAVX512(dst *uint64, ints *int64, n int, base int64) (all uint64)
TEXT ·subtractBaseAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ n+16(FP), CX
	BROADCAST(base+24(FP), Z1)
	FULL_MASK
	VPXORQ Z2, Z2, Z2
subtractBase:
	NEXT_MASK(subtractFull)
subtractFull:
	VMOVDQU64.Z (SI), K1, Z0
	VPSUBQ Z1, Z0, Z0
	VMOVDQU64 Z0, K1, (DI)
	VPORQ Z0, Z2, K1, Z2
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   subtractBase
	VEXTRACTI64X4 $1, Z2, Y1
	VPORQ Y1, Y2, Y2
	VEXTRACTI128 $1, Y2, X1
	VPOR X1, X2, X2
	VPSRLDQ $8, X2, X1
	VPOR X1, X2, X2
	VMOVQ X2, all+32(FP)
	VZEROUPPER
	RET

// func zigzagAllAVX512(dst *uint64, ints *int64, n int, base int64, shift int)
TEXT ·zigzagAllAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ n+16(FP), CX
	BROADCAST(base+24(FP), Z1)
	VMOVQ shift+32(FP), X3
	FULL_MASK
Zigzag:
	NEXT_MASK(zigzagFull)
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
	JG   Zigzag
	VZEROUPPER
	RET

// func differencesAVX512(dst, a, b *int64, n int)
TEXT ·differencesAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	FULL_MASK
difference:
	NEXT_MASK(differenceFull)
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

// func addAVX512(dst, ints *int64, n int)
TEXT ·addAVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ ints+8(FP), SI
	MOVQ n+16(FP), CX
	FULL_MASK
add:
	NEXT_MASK(addFull)
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

// func countWiderAVX512(lengths *[miniValues]uint8, above *[64]uint8, numbers *uint64, n int) (widest int)
TEXT ·countWiderAVX512(SB), NOSPLIT, $0-40
	MOVQ lengths+0(FP), DI
	MOVQ above+8(FP), R8
	MOVQ numbers+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ CX, R9
	SHRQ $2, R9 // a quarter
	BROADCAST($64, Z4)
	FULL_MASK
	VPXORQ Z2, Z2, Z2
	VMOVDQU64 Z2, (DI)
	VMOVDQU64 Z2, 64(DI)
	MOVQ DI, R10
length:
	NEXT_MASK(lengthFull)
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

// func unpackClassesAVX512(dst *int64, n int, codes *byte, codeBits int, widths *[maxClasses]int64, scales *uint8, src *byte, length int) (done, bits int)
TEXT ·unpackClassesAVX512(SB), NOSPLIT, $0-80
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
	FULL_MASK
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
	NEXT_MASK(unpackFull)
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

// func restoreAVX512(ints *int64, n int, base int64, shift, signed int)
TEXT ·restoreAVX512(SB), NOSPLIT, $0-40
	MOVQ ints+0(FP), DI
	MOVQ n+8(FP), CX
	BROADCAST(base+16(FP), Z10)
	VMOVQ shift+24(FP), X11
	BROADCAST(signed+32(FP), Z12) // 1 or 0
	VPXORQ Z13, Z13, Z13
	VMOVQ signed+32(FP), X14
	FULL_MASK
restore:
	NEXT_MASK(unclassFull)
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
	JG   restore
	VZEROUPPER
	RET

// func classifyAVX512(pieces *uint64, sizes *uint8, codes *byte, codeBits int, numbers *uint64, scales *uint8, n int, table *classTable, together int)
TEXT ·classifyAVX512(SB), NOSPLIT, $0-72
	MOVQ words+0(FP), DI
	MOVQ sizes+8(FP), DX
	MOVQ codes+16(FP), R8
	MOVQ codeBits+24(FP), R9
	MOVQ numbers+32(FP), SI
	MOVQ scales+40(FP), R10
	MOVQ n+48(FP), CX
	MOVQ table+56(FP), R11
	MOVQ perWord+64(FP), R12
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
	FULL_MASK
class:
	NEXT_MASK(classFull)
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

// func sortSamplesAVX512(samples *orderSamples, costs *[4]int64, n int, pairs *[2]uint8, number int)
TEXT ·sortSamplesAVX512(SB), NOSPLIT, $0-40
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
