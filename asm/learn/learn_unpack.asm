; learn_unpack - a packed small picture becomes rows of 9 pixels, moved sideways if asked
;
; In         hl = picture, 13 bytes: columns 0..7 of 11 rows, then column 8 of all rows;  c = first column, 0..2: 1 moves nothing,
;            0 moves the picture one pixel to the right, 2 to the left
; Out        learn_rows = 13 rows of 2 bytes: columns 0..7, then column 8 in bit 7; the first and the last row are blank
; Clobbers   af b de hl ix
; T-states   1859 if c = 0, 1694 if c = 1, 1617 if c = 2
; Bytes      51
learn_unpack:
        push hl
        ld   de, 11
        add  hl, de
        ld   d, (hl)                    ; de = column 8, row 0 in bit 15
        inc  hl
        ld   e, (hl)
        pop  hl
        ld   ix, learn_rows + 2
        ld   b, 11
learn_unpack_row:                       ; hl = byte of the row, de = column 8 of the rows left, b = rows left, ix = where it goes
        ld   a, (hl)
        inc  hl
        sla  e
        rl   d                          ; carry = column 8
        bit  1, c
        jr   nz, learn_unpack_left
        bit  0, c
        jr   nz, learn_unpack_store
        srl  a                          ; column 7 becomes column 8
        jr   learn_unpack_store
learn_unpack_left:
        rla                             ; column 8 becomes column 7
        or   a                          ; and a blank comes after it
learn_unpack_store:                     ; a = columns 0..7, carry = column 8
        ld   (ix + 0), a
        ld   a, 0
        rra
        ld   (ix + 1), a
        inc  ix
        inc  ix
        djnz learn_unpack_row
        ret
