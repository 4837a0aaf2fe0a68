; What three of the four screens share: a frame around a picture, the lamps of a large digit, and the names of ten bars.

FRAME_TOP:      equ 28          ; screen lines of the frame, two thick
FRAME_BOTTOM:   equ 148
FRAME_CELLS:    equ 14          ; whole cells between its left and right edge
FRAME_COLOURS:  equ ATTRIBUTES + 3 * 32
LAMPS_TOP:      equ 24          ; screen lines of the lamps
LAMPS_BOTTOM:   equ 72
LAMPS_COLUMN:   equ 26
LAMPS_ACROSS:   equ 6

; clear_screen - make the screen black: nothing shows before it is coloured
; Clobbers   f bc de hl
; Bytes      15                 (falls into clear_bytes)
clear_screen:
        ld   hl, ATTRIBUTES
        ld   bc, 767
        call clear_bytes
        ld   hl, TOP_THIRD
        ld   bc, 6143

; clear_bytes - set bytes to zero
; In         hl = first byte;  bc = bytes less one, at least 1
; Clobbers   f bc de hl
; Bytes      8
clear_bytes:
        ld   d, h
        ld   e, l
        inc  de
        ld   (hl), 0
        ldir
        ret

; fill_colour - colour a rectangle of cells
; In         hl = address of the first attribute;  b = height;  c = width;  a = attribute
; Clobbers   f b de hl
; Bytes      16
fill_colour:
        ld   de, 32
fill_colour_row:                ; hl = first cell of the row, b = rows left
        push bc
        push hl
        ld   b, c
fill_colour_cell:
        ld   (hl), a
        inc  hl
        djnz fill_colour_cell
        pop  hl
        add  hl, de
        pop  bc
        djnz fill_colour_row
        ret

; draw_stage - draw the frame, the lamps and the bars' names
; Clobbers   f a bc de hl
; Bytes      125                (with colour_frame)
draw_stage:
        ld   c, FRAME_TOP
draw_stage_line:                ; c = screen line
        ld   a, c
        call line_address
        ld   a, c
        sub  FRAME_TOP + 2
        cp   FRAME_BOTTOM - FRAME_TOP - 4
        jr   c, draw_stage_sides
        ld   (hl), 0x0F
        ld   b, FRAME_CELLS
draw_stage_cell:
        inc  l
        ld   (hl), 0xFF
        djnz draw_stage_cell
        inc  l
        ld   (hl), 0xF0
        jr   draw_stage_next
draw_stage_sides:
        ld   (hl), 0x0C
        ld   de, FRAME_CELLS + 1
        add  hl, de
        ld   (hl), 0x30
draw_stage_next:
        inc  c
        ld   a, c
        cp   FRAME_BOTTOM
        jr   nz, draw_stage_line
        ld   c, LAMPS_TOP
draw_stage_lamps:               ; c = screen line
        ld   a, c
        and  7
        cp   7
        jr   z, draw_stage_gap  ; a gap below each lamp
        ld   a, c
        call line_address
        ld   de, LAMPS_COLUMN
        add  hl, de
        ld   b, LAMPS_ACROSS
draw_stage_lamp:
        ld   (hl), 0xFE         ; and one to its right
        inc  l
        djnz draw_stage_lamp
draw_stage_gap:
        inc  c
        ld   a, c
        cp   LAMPS_BOTTOM
        jr   nz, draw_stage_lamps
        ld   hl, bar_shown      ; none
        ld   bc, DIGITS - 1
        call clear_bytes
        xor  a                  ; black, until a bar is drawn
        ld   (text_colour), a
draw_stage_name:                ; a = digit
        push af
        call bar_address
        ex   de, hl
        pop  af
        push af
        call print_digit
        pop  af
        inc  a
        cp   DIGITS
        jr   nz, draw_stage_name
        ld   a, CYAN

colour_frame:                   ; a = attribute of the frame
        ld   (frame_colour), a
        ld   hl, FRAME_COLOURS
        ld   bc, 16 * 256 + 16
        call fill_colour
        ld   hl, FRAME_COLOURS + 33
        ld   bc, 14 * 256 + 14
        ld   a, BRIGHT + WHITE
        jp   fill_colour
draw_stage_end:
