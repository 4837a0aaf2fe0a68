; The canvas: 56 x 56 cells, each two screen pixels wide and high, in the frame. 56 rows of 7 bytes, bit 7 leftmost.
;
; It lies between BASIC's end, 0x5D7A with the loader in memory, and BASIC's stack, of which the program uses what lies above
; 0x5F88. The printer buffer would not do: a 128K machine keeps code there that switches its ROMs.

canvas:         equ 0x5E00
CANVAS_CELLS:   equ 56
CANVAS_ROW_BYTES: equ 7
CANVAS_BYTES:   equ 392

; clear_canvas - clear all cells
; Clobbers   f bc de hl
; Bytes      9
clear_canvas:
        ld   hl, canvas
        ld   bc, CANVAS_BYTES - 1
        jp   clear_bytes

; show_canvas - show all cells
; Clobbers   f a bc de hl ix
; Bytes      29
show_canvas:
        ld   c, CANVAS_ROW_BYTES - 2
show_canvas_pair:               ; c = first byte of a row to show, and the next: 5, 4, 2, 0
        push bc
        ld   hl, canvas
        ld   b, 0
        add  hl, bc
        ld   b, CANVAS_CELLS
        xor  a
        ld   d, a
        ld   e, a
        call show_cells
        pop  bc
        ld   a, c
        or   a
        ret  z
        dec  c
        cp   CANVAS_ROW_BYTES - 2
        jr   z, show_canvas_pair
        dec  c
        jr   show_canvas_pair

; find_cells - find the byte of a cell of the canvas, so that one more lies to its right
; In         b = column, 0..55;  c = row, 0..55
; Out        hl = address;  c = number of the byte in its row, 0..5;  b = column in the two bytes, 0..15
; Clobbers   f a de
; Bytes      38
find_cells:
        ld   l, c
        ld   h, 0
        ld   d, h
        ld   e, l
        add  hl, hl
        add  hl, hl
        add  hl, hl
        or   a
        sbc  hl, de             ; hl = row * 7
        ld   a, b
        rrca
        rrca
        rrca
        and  7
        cp   CANVAS_ROW_BYTES - 1
        jr   c, find_cells_byte
        ld   a, CANVAS_ROW_BYTES - 2
find_cells_byte:
        ld   c, a
        ld   e, a
        add  hl, de             ; d = 0
        ld   de, canvas
        add  hl, de
        add  a, a
        add  a, a
        add  a, a
        neg
        add  a, b
        ld   b, a
        ret

; show_cells - show two bytes of each of some rows of the canvas, and a grey shape over them
; In         hl = address of the first byte;  c = its number in the row, 0..5;  a = row;  b = rows;  de = the shape's cells
; Clobbers   f a bc hl ix
; Bytes      41
show_cells:
        push hl
        pop  ix
show_cells_row:                 ; ix = two bytes, a = row, b = rows left
        push af
        push bc
        add  a, a
        add  a, PICTURE_LINE
        call line_address
        ld   a, c
        add  a, a
        inc  a                  ; PICTURE_COLUMN
        add  a, l
        ld   l, a
        ld   b, d
        ld   c, (ix+0)
        call show_byte
        ld   b, e
        ld   c, (ix+1)
        call show_byte
        ld   bc, CANVAS_ROW_BYTES
        add  ix, bc
        pop  bc
        pop  af
        inc  a
        djnz show_cells_row
        ret

; show_byte - show eight cells, two screen pixels wide and high each, and those of a grey shape over them
; In         c = cells;  b = cells of the shape;  hl = screen address
; Out        hl = screen address of the byte after them
; Clobbers   f a bc
; T-states   74..612
; Bytes      72
show_byte:
        ld   a, b
        or   c
        jr   z, show_byte_blank
        push de
        call show_four
        ld   a, b
        add  a, a
        add  a, a
        add  a, a
        add  a, a
        ld   b, a
        ld   a, c
        add  a, a
        add  a, a
        add  a, a
        add  a, a
        ld   c, a
        call show_four
        pop  de
        ret
show_byte_blank:                ; a = 0
        ld   (hl), a
        inc  h
        ld   (hl), a
        inc  l
        ld   (hl), a
        dec  h
        ld   (hl), a
        inc  l
        ret

show_four:                      ; bits 7 to 4 of c and b to the byte at hl and the one below; hl = next byte; changes f a de
        ld   a, b
        call spread_four
        ld   d, a
        ld   a, c
        call spread_four
        ld   e, a
        rrca
        or   e
        ld   e, a               ; e = the cells, d = every other pixel of the shape
        xor  d
        ld   (hl), a
        inc  h
        ld   a, d
        rrca
        xor  e
        ld   (hl), a
        dec  h
        inc  l
        ret

spread_four:                    ; a = abcd.... -> a0b0c0d0; changes f e
        and  0xF0
        ret  z
        ld   e, a
        rrca
        rrca
        or   e
        and  0xCC
        ld   e, a
        rrca
        or   e
        and  0xAA
        ret
show_byte_end:
