//go:build amd64 && !purego && !noasm

#include "textflag.h"

// func ahead(p unsafe.Pointer, size int)
TEXT ·ahead(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ size+8(FP), CX
	ADDQ AX, CX
	ANDQ $-64, AX

line:
	PREFETCHT0 (AX)
	ADDQ       $64, AX
	CMPQ       AX, CX
	JLT        line
	RET
