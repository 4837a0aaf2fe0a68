; The picture, four screen pixels wide and high a pixel, and twice as large for what the net sees of a drawing.

PICTURE_LINE:   equ 32          ; screen line of the first row
PICTURE_COLUMN: equ 1           ; character column of the first pixel
PICTURE_ROWS:   equ 28
PICTURE_PAIRS:  equ 14          ; pairs of pixels in a row: one screen byte each
SEEN_LINE:      equ 24
SEEN_COLUMN:    equ 17
SEEN_COLOURS:   equ ATTRIBUTES + 3 * 32 + SEEN_COLUMN

; draw_picture - draw the picture on 14 x 14 cells
; Clobbers   f a c de hl
; Bytes      61
draw_picture:
        ld   hl, picture
        ld   c, PICTURE_LINE
draw_picture_row:               ; hl = row of the picture, c = its first screen line
        push bc
        ex   de, hl
        ld   a, c
        call line_address
        inc  l                  ; PICTURE_COLUMN
        ld   b, PICTURE_PAIRS
draw_picture_pair:              ; c = pixels left of the byte, b = pairs left of the row, hl = screen, de = picture
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

; draw_seen - draw the picture small, two screen pixels wide and high a pixel
; Clobbers   f a bc de hl ix
; Bytes      36
draw_seen:
        ld   ix, picture
        ld   a, SEEN_LINE
draw_seen_row:                  ; ix = row of the picture, a = screen line
        push af
        call line_address
        ld   de, SEEN_COLUMN
        add  hl, de
        ld   b, d               ; 0
        ld   d, 4
draw_seen_byte:                 ; d = bytes left of the row
        ld   c, (ix+0)
        inc  ix
        call show_byte
        dec  d
        jr   nz, draw_seen_byte
        pop  af
        add  a, 2
        cp   SEEN_LINE + 2 * PICTURE_ROWS
        jr   nz, draw_seen_row
        ret
draw_seen_end:
