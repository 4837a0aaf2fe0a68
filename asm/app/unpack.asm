; Pictures are packed: each row XOR the one above, as lengths of runs of equal pixels, in Elias's gamma code.

; unpack_picture - unpack one of a row of packed pictures
;
; A packed picture is a byte, the number of those that follow, then run after run, bit 7 first. A run's length is the binary
; number that begins with 1 and goes on with the bit after each 0, until a 1 comes instead. Four blank pixels come before the
; first row, so that the first run is always of blanks.
;
; In         a = index of the picture;  ix = first packed picture
; Out        picture = 28 rows of 4 bytes, in which the last four pixels are clear
; Clobbers   f a bc de hl ix
; Bytes      87
; Source     P. Elias, Universal codeword sets and representations of the integers, IEEE Trans. Inf. Theory 21 (1975)
unpack_picture:
        ld   b, a
        inc  b
        jr   unpack_skip_next
unpack_skip:                    ; b = pictures to skip + 1
        ld   e, (ix+0)
        ld   d, 0
        add  ix, de
        inc  ix
unpack_skip_next:
        djnz unpack_skip
        inc  ix
        ld   de, picture - 1
        ld   bc, 0x1080         ; b = byte in the making, behind a 1; c = bits left of a byte, before a 1
        ld   a, 255
unpack_run:                     ; a = colour of the run before
        cpl
        ld   hl, 1
unpack_length:                  ; hl = length so far
        call unpack_bit
        jr   c, unpack_pixel
        call unpack_bit
        adc  hl, hl
        jr   unpack_length
unpack_pixel:                   ; hl = pixels left of the run, de = byte to write
        rlca                    ; carry = colour
        rl   b
        jr   nc, unpack_next
        push hl
        push af
        ld   hl, 0 - 4
        add  hl, de
        ld   a, b
        xor  (hl)               ; the row above
        ld   (de), a
        inc  de
        pop  af
        pop  hl
        ld   b, 1
unpack_next:
        dec  hl
        inc  h
        dec  h
        jr   nz, unpack_pixel
        inc  l
        dec  l
        jr   nz, unpack_pixel
        ld   hl, 0 - picture - 112
        add  hl, de
        jr   nc, unpack_run
        ret

unpack_bit:                     ; carry = next bit; changes f c
        sla  c
        ret  nz
        ld   c, (ix+0)
        inc  ix
        rl   c                  ; the 1 that came out goes in behind
        ret
unpack_picture_end:
