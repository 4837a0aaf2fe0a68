; learn_shrink - a picture becomes a packed small one
;
; In         hl = picture: 28 rows of 4 bytes, bit 7 of the first is the leftmost pixel;  de = where to write
; Out        13 bytes: columns 0..7 of 11 rows, then column 8 of all rows
; Clobbers   af bc de hl ix
; T-states   28902
; Bytes      82
; Needs      learn_pack
; Writes     learn_rows
learn_shrink:
        push de
        ld   de, 12                     ; three rows
        add  hl, de
        push hl
        pop  ix
        ld   de, learn_rows + 2
        ld   b, 11
learn_shrink_row:                       ; ix = the upper of two rows of the picture, de = small row, b = small rows left
        push bc
        push de
        ld   b, 16
learn_shrink_pair:                      ; b = pairs of columns left, hl = blocks so far
        ld   a, b
        and  3
        jr   nz, learn_shrink_block
        ld   a, (ix + 1)
        rla
        ld   a, (ix + 0)
        rla                             ; the first column is odd
        ld   d, a
        ld   a, (ix + 5)
        rla
        ld   a, (ix + 4)
        rla
        ld   e, a                       ; de = eight columns
        inc  ix
learn_shrink_block:
        xor  a
        sla  d
        rla
        sla  d
        rla
        sla  e
        rla
        sla  e
        rla
        ld   c, a                       ; c = the block's four pixels
        dec  a
        and  c
        add  a, 255                     ; carry = two or more are set
        adc  hl, hl
        djnz learn_shrink_pair
        add  hl, hl                     ; columns 1..4 are not looked at
        add  hl, hl
        ex   de, hl
        pop  hl
        ld   (hl), d
        inc  hl
        ld   (hl), e
        inc  hl
        ex   de, hl
        ld   bc, 4
        add  ix, bc
        pop  bc
        djnz learn_shrink_row
        pop  de

; learn_pack - rows become a packed small picture
;
; In         de = where to write;  learn_rows, not moved
; Out        13 bytes: columns 0..7 of 11 rows, then column 8 of all rows
; Clobbers   af b de hl ix
; T-states   1213
; Bytes      35
learn_pack:
        ld   hl, 11
        add  hl, de
        push hl
        pop  ix
        ex   de, hl                     ; de = behind the eleventh row
        ld   (ix + 0), 0
        ld   hl, learn_rows + 24
        ld   b, 11
learn_pack_row:                         ; hl = behind a row, de = behind where it goes, b = rows left, from the last one upwards
        dec  de
        dec  hl
        ld   a, (hl)
        rla
        rr   (ix + 0)
        rr   (ix + 1)
        dec  hl
        ld   a, (hl)
        ld   (de), a
        djnz learn_pack_row
        ret
