; The picture, four screen pixels wide and high a pixel.

PICTURE_LINE:   equ 32          ; screen line of the first row
PICTURE_COLUMN: equ 1           ; character column of the first pixel
PICTURE_ROWS:   equ 28
PICTURE_PAIRS:  equ 14          ; pairs of pixels in a row: one screen byte each

; draw_picture - draw a picture of 28 rows of 4 bytes on 14 x 14 cells
; In         hl = picture
; Clobbers   f a c de hl
; Bytes      61
draw_picture:
        ld   c, PICTURE_LINE
draw_picture_row:               ; hl = row of the picture, c = its first screen line
        push bc
        ex   de, hl
        ld   a, c
        call line_address
        ld   a, l
        add  a, PICTURE_COLUMN
        ld   l, a               ; hl = screen, de = picture
        ld   b, PICTURE_PAIRS
draw_picture_pair:              ; c = pixels left of the byte, b = pairs left of the row
        ld   a, b
        and  3
        cp   2                  ; 14, 10, 6 and 2 pairs left: a new byte begins
        jr   nz, draw_picture_expand
        ld   a, (de)
        ld   c, a
        inc  de
draw_picture_expand:
        rlc  c
        sbc  a, a               ; 0xFF where the left pixel is set
        rlc  c
        jr   c, draw_picture_right
        and  0xF0
        jr   draw_picture_put
draw_picture_right:
        or   0x0F
draw_picture_put:               ; a = 0x00, 0x0F, 0xF0 or 0xFF
        ld   (hl), a
        inc  h
        ld   (hl), a
        inc  h
        ld   (hl), a
        inc  h
        ld   (hl), a
        dec  h
        dec  h
        dec  h
        inc  l
        djnz draw_picture_pair
        ex   de, hl
        pop  bc
        ld   a, c
        add  a, 4
        ld   c, a
        cp   PICTURE_LINE + 4 * PICTURE_ROWS
        jr   nz, draw_picture_row
        ret
draw_picture_end:
