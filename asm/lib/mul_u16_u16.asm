; mul_u16_u16 - unsigned 16 x 16 -> 32 bit multiply, shift and add
; In         bc = multiplicand, u16;  de = multiplier, u16
; Out        de = high word of bc * de;  hl = low word
; Clobbers   f a
; T-states   902..1205
; Bytes      20
; Source     Zaks, Programming the Z80 (1980), chapter 3
mul_u16_u16:
        ld   hl, 0              ; dehl = multiplier bits still to do, then the product's
        ld   a, 16
mul_u16_u16_bit:                ; a = bits left
        add  hl, hl
        rl   e
        rl   d                  ; carry = top multiplier bit
        jr   nc, mul_u16_u16_skip
        add  hl, bc
        jr   nc, mul_u16_u16_skip
        inc  de
mul_u16_u16_skip:
        dec  a
        jr   nz, mul_u16_u16_bit
        ret
mul_u16_u16_end:
