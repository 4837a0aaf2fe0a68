; looks - what further looks at a picture need: it is copied between two blank rows, moved, and the scores are added up
;
; A picture that starts a row earlier is moved down by a row, one that starts a row later up.
; Bytes      125

; looks_keep - keep the scores of the first look
; In         scores = LOOKS_UNITS words
; Out        looks_total = they
; Clobbers   f bc de hl
; T-states   35 + 42 * LOOKS_UNITS
looks_keep:
        ld   hl, scores
        ld   de, looks_total
        ld   bc, 2 * LOOKS_UNITS
        ldir
        ret

; looks_add - add the scores of another look
; In         scores, looks_total = LOOKS_UNITS words each
; Out        both = their sums
; Clobbers   af b de hl
; T-states   32 + 89 * LOOKS_UNITS
; Needs      scores within a page
looks_add:
        ld   hl, scores
        ld   de, looks_total
        ld   b, LOOKS_UNITS
looks_add_next:                         ; hl, de = next score and total, b = scores left
        ld   a, (de)
        add  a, (hl)
        ld   (de), a
        ld   (hl), a
        inc  l
        inc  de
        ld   a, (de)
        adc  a, (hl)
        ld   (de), a
        ld   (hl), a
        inc  l
        inc  de
        djnz looks_add_next
        ret

; looks_copy - copy the picture
; In         (classify_picture) = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel, the last 4 bits are clear
; Out        looks_picture + 4 = it
; Clobbers   f bc de hl
; T-states   2118
looks_copy:
        ld   hl, (classify_picture)
        ld   de, looks_picture + 4
        ld   bc, 112
looks_copy_row:                         ; hl, de = next row and where it goes, bc = bytes left
        ldi
        ldi
        ldi
        ldi
        jp   pe, looks_copy_row
        ret

; looks_left - copy the picture, moved left by a pixel
; In         as looks_copy
; Out        looks_picture + 4 = it
; Clobbers   af b de hl
; T-states   3783
looks_left:
        ld   hl, (classify_picture)
        ld   de, 111
        add  hl, de
        ld   de, looks_picture + 115
        ld   b, 28
looks_left_row:                         ; hl, de = last byte of a row and where it goes, b = rows left
        ld   a, (hl)
        add  a, a
        ld   (de), a
        dec  hl
        dec  de
        ld   a, (hl)
        rla
        ld   (de), a
        dec  hl
        dec  de
        ld   a, (hl)
        rla
        ld   (de), a
        dec  hl
        dec  de
        ld   a, (hl)
        rla
        ld   (de), a
        dec  hl
        dec  de
        djnz looks_left_row
        ret

; looks_right - copy the picture, moved right by a pixel
; In         as looks_copy
; Out        looks_picture + 4 = it
; Clobbers   af b de hl
; T-states   4070
looks_right:
        ld   hl, (classify_picture)
        ld   de, looks_picture + 4
        ld   b, 28
looks_right_row:                        ; hl, de = first byte of a row and where it goes, b = rows left
        ld   a, (hl)
        srl  a
        ld   (de), a
        inc  hl
        inc  de
        ld   a, (hl)
        rra
        ld   (de), a
        inc  hl
        inc  de
        ld   a, (hl)
        rra
        ld   (de), a
        inc  hl
        inc  de
        ld   a, (hl)
        rra
        and  0xF0                       ; without the pixel that left
        ld   (de), a
        inc  hl
        inc  de
        djnz looks_right_row
        ret
