; div_u16_u8 - unsigned 16 / 8 -> 16 bit division, restoring
; In         hl = dividend, u16;  e = divisor, u8, not 0
; Out        hl = quotient, u16;  a = remainder, u8
; Clobbers   f b
; T-states   808..880
; Bytes      15
; Source     Zaks, Programming the Z80 (1980), chapter 3
div_u16_u8:
        xor  a                  ; ahl = remainder, dividend bits still to do, quotient bits
        ld   b, 16
div_u16_u8_bit:                 ; b = bits left
        add  hl, hl
        rla
        jr   c, div_u16_u8_fits ; a remainder of nine bits is above any divisor
        cp   e
        jr   c, div_u16_u8_next
div_u16_u8_fits:
        sub  e
        inc  l
div_u16_u8_next:
        djnz div_u16_u8_bit
        ret
div_u16_u8_end:
