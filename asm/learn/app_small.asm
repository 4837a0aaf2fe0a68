; Small pictures on the screen: as pixels four times as large, or as a cell each. And what reads them.

PICTURE_LINE:   equ 32          ; screen line of the drawing's first row
SEEN_COLUMN:    equ 17
SEEN_COLOURS:   equ ATTRIBUTES + 3 * 32 + SEEN_COLUMN
SEEN_LINE:      equ 28
CELLS_COLOURS:  equ ATTRIBUTES + 5 * 32 + 4
CELL_LIT:       equ BRIGHT + WHITE * PAPER
CELL_DARK:      equ BLUE * PAPER

; draw_small - draw the unpacked picture, four pixels wide and high a pixel
; In         a = screen line, a multiple of 4;  c = column;  learn_rows
; Clobbers   af b de hl ix
; Bytes      62
draw_small:
        ld   ix, learn_rows + 2
        ld   b, 11
draw_small_row:                 ; ix = row of the picture, a = screen line, b = rows left
        push af
        push bc
        call line_address
        ld   a, l
        add  a, c
        ld   l, a
        ld   e, (ix+0)
        ld   d, (ix+1)          ; e, then d = pixels from the left
        ld   b, 5
draw_small_pair:                ; hl = screen, b = pairs of pixels left
        sla  d
        rl   e
        sbc  a, a
        and  0xF0
        ld   c, a
        sla  d
        rl   e
        sbc  a, a
        and  0x0F
        or   c
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
        djnz draw_small_pair
        inc  ix
        inc  ix
        pop  bc
        pop  af
        add  a, 4
        djnz draw_small_row
        ret

; draw_cells - show the unpacked picture as 11 x 9 cells in the frame
; In         learn_rows
; Clobbers   af bc de hl ix
; Bytes      43
draw_cells:
        ld   ix, learn_rows + 2
        ld   hl, CELLS_COLOURS
        ld   b, 11
draw_cells_row:                 ; ix = row of the picture, hl = its first cell, b = rows left
        push bc
        ld   e, (ix+0)
        ld   d, (ix+1)
        ld   b, 9
draw_cells_cell:
        sla  d
        rl   e
        ld   (hl), CELL_DARK
        jr   nc, draw_cells_next
        ld   (hl), CELL_LIT
draw_cells_next:
        inc  hl
        djnz draw_cells_cell
        ld   de, 32 - 9
        add  hl, de
        inc  ix
        inc  ix
        pop  bc
        djnz draw_cells_row
        ret

; draw_lattice - part the cells in the frame by black lines
; Clobbers   af bc de hl
; Bytes      41
draw_lattice:
        ld   c, PICTURE_LINE
draw_lattice_line:              ; c = screen line
        ld   a, c
        call line_address
        inc  l
        ld   a, c
        and  7
        cp   7
        ld   a, 0x01
        jr   nz, draw_lattice_cells
        ld   a, 0xFF
draw_lattice_cells:
        ld   b, 14
draw_lattice_cell:
        ld   (hl), a
        inc  l
        djnz draw_lattice_cell
        inc  c
        ld   a, c
        cp   PICTURE_LINE + 112
        jr   nz, draw_lattice_line
        ld   hl, FRAME_COLOURS + 33
        ld   bc, 14 * 256 + 14
        ld   a, CELL_DARK
        jp   fill_colour

; draw_seen - draw what the Z80 sees of a drawing
; In         picture
; Clobbers   af bc de hl ix
; Bytes      16
draw_seen:
        ld   hl, picture
        ld   de, small
        call learn_shrink       ; leaves learn_rows
        ld   a, SEEN_LINE
        ld   c, SEEN_COLUMN + 1
        jp   draw_small

; classify - read the digit in a picture
; In         hl = picture: 28 rows of 4 bytes
; Out        a = digit, scores
; Clobbers   af bc de hl ix
; Bytes      9                 (falls into read_small)
classify:
        ld   de, small
        call learn_shrink
        ld   hl, small

; read_small - read the digit in a packed small picture
; In         hl = picture, 13 bytes
; Out        a = digit;  scores;  learn_rows = the picture unpacked
; Clobbers   af bc de hl ix
; Bytes      23
read_small:
        call learn_read
        push af
        ld   hl, learn_digits + 2
        ld   de, scores
        ld   a, DIGITS
read_small_score:               ; hl = score, a = scores left
        ldi
        ldi
        inc  hl
        inc  hl
        dec  a
        jr   nz, read_small_score
        pop  af
        ret
app_small_end:
