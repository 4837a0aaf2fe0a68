; What stays on the screen from picture to picture: words, the frame, the lamps of the large digit, and the colours.

AT_NET:         equ TOP_THIRD + 1 * 32
FRAME_TOP:      equ 28          ; screen lines of the frame, two thick
FRAME_BOTTOM:   equ 148
FRAME_CELLS:    equ 14          ; whole cells between its left and right edge
LAMPS_TOP:      equ 24          ; screen lines of the lamps
LAMPS_BOTTOM:   equ 72
LAMPS_COLUMN:   equ 26
LAMPS_ACROSS:   equ 6

; draw_screen - draw everything that stays, on black, and colour it last
; Clobbers   f a bc de hl
; Bytes      57
draw_screen:
        ld   hl, ATTRIBUTES     ; black on black: nothing shows while it is drawn
        ld   de, ATTRIBUTES + 1
        ld   bc, 767
        ld   (hl), 0
        ldir
        ld   hl, TOP_THIRD
        ld   de, TOP_THIRD + 1
        ld   bc, 6143
        ld   (hl), 0
        ldir
        call draw_frame
        call draw_lamps
        ld   hl, text_net
        ld   de, AT_NET
        call print_text
        ld   hl, screen_texts
draw_screen_text:               ; hl = where the next text goes, then the text
        ld   e, (hl)
        inc  hl
        ld   d, (hl)
        inc  hl
        ld   a, d
        or   a
        jr   z, fill_colours    ; hl = screen_colours
        call print_text
        jr   draw_screen_text

; fill_colours - colour rectangles of cells
; In         hl = rectangles: address of the first attribute, width, height, attribute; the last followed by two zeros
; Clobbers   f a bc de hl
; Bytes      33
fill_colours:
        ld   e, (hl)
        inc  hl
        ld   d, (hl)            ; de = first cell
        inc  hl
        ld   a, d
        or   a
        ret  z
        ld   c, (hl)            ; c = width
        inc  hl
        ld   b, (hl)            ; b = height
        inc  hl
        ld   a, (hl)            ; a = attribute
        inc  hl
        push hl
        ex   de, hl
fill_colours_row:               ; hl = first cell of the row, b = rows left
        push bc
        push hl
        ld   b, c
fill_colours_cell:
        ld   (hl), a
        inc  hl
        djnz fill_colours_cell
        pop  hl
        ld   bc, 32
        add  hl, bc
        pop  bc
        djnz fill_colours_row
        pop  hl
        jr   fill_colours

; draw_frame - draw the frame around the picture
; Clobbers   f a bc de hl
; Bytes      42
draw_frame:
        ld   c, FRAME_TOP
draw_frame_line:                ; c = screen line
        ld   a, c
        call line_address
        ld   a, c
        sub  FRAME_TOP + 2
        cp   FRAME_BOTTOM - FRAME_TOP - 4
        jr   c, draw_frame_sides
        ld   (hl), 0x0F
        ld   b, FRAME_CELLS
draw_frame_cell:
        inc  l
        ld   (hl), 0xFF
        djnz draw_frame_cell
        inc  l
        ld   (hl), 0xF0
        jr   draw_frame_next
draw_frame_sides:
        ld   (hl), 0x0C
        ld   de, FRAME_CELLS + 1
        add  hl, de
        ld   (hl), 0x30
draw_frame_next:
        inc  c
        ld   a, c
        cp   FRAME_BOTTOM
        jr   nz, draw_frame_line
        ret

; draw_lamps - draw the squares that the large digit lights
; Clobbers   f a bc de hl
; Bytes      31
draw_lamps:
        ld   c, LAMPS_TOP
draw_lamps_line:                ; c = screen line
        ld   a, c
        and  7
        cp   7
        jr   z, draw_lamps_next ; a gap below each square
        ld   a, c
        call line_address
        ld   de, LAMPS_COLUMN
        add  hl, de
        ld   b, LAMPS_ACROSS
draw_lamps_cell:
        ld   (hl), 0xFE         ; and one to its right
        inc  l
        djnz draw_lamps_cell
draw_lamps_next:
        inc  c
        ld   a, c
        cp   LAMPS_BOTTOM
        jr   nz, draw_lamps_line
        ret
draw_lamps_end:

screen_texts:                   ; screen address, characters, zero
        defw TOP_THIRD                     ; zxml
        defb 122, 120, 109, 108, 0
        defw TOP_THIRD + 9                 ; a Z80 reads handwriting
        defb 97, 32, 90, 56, 48, 32, 114, 101, 97, 100, 115, 32, 104, 97, 110, 100
        defb 119, 114, 105, 116, 105, 110, 103, 0
        defw TOP_THIRD + 3 * 32 + 17       ; it reads
        defb 105, 116, 32, 114, 101, 97, 100, 115, 0
        defw BOTTOM_THIRD + 3 * 32 + 3     ; of
        defb 32, 111, 102, 0
        defw BOTTOM_THIRD + 3 * 32 + 9     ; right
        defb 32, 114, 105, 103, 104, 116, 0
        defw BOTTOM_THIRD + 5 * 32         ; time
        defb 116, 105, 109, 101, 0
        defw BOTTOM_THIRD + 5 * 32 + 11    ; ms
        defb 32, 109, 115, 0
        defw BOTTOM_THIRD + 5 * 32 + 21    ; 00 T-states
        defb 48, 48, 32, 84, 45, 115, 116, 97, 116, 101, 115, 0
        defw BOTTOM_THIRD + 7 * 32         ; SPACE faster
        defb 83, 80, 65, 67, 69, 32, 102, 97, 115, 116, 101, 114, 0
        defw BOTTOM_THIRD + 7 * 32 + 17    ; BREAK for BASIC
        defb 66, 82, 69, 65, 75, 32, 102, 111, 114, 32, 66, 65, 83, 73, 67, 0
        defw 0
screen_colours:                 ; address, width, height, attribute
        defw ATTRIBUTES
        defb 1, 1, BRIGHT + RED            ; z
        defw ATTRIBUTES + 1
        defb 1, 1, BRIGHT + YELLOW         ; x
        defw ATTRIBUTES + 2
        defb 1, 1, BRIGHT + GREEN          ; m
        defw ATTRIBUTES + 3
        defb 1, 1, BRIGHT + CYAN           ; l
        defw ATTRIBUTES + 9
        defb 23, 1, WHITE                  ; title
        defw ATTRIBUTES + 1 * 32
        defb 32, 1, BRIGHT + WHITE         ; net
        defw ATTRIBUTES + 3 * 32
        defb 16, 16, CYAN                  ; frame
        defw ATTRIBUTES + 4 * 32 + 1
        defb 14, 14, BRIGHT + WHITE        ; picture
        defw ATTRIBUTES + 3 * 32 + 17
        defb 8, 1, WHITE                   ; it reads
        defw ATTRIBUTES + 7 * 32 + 17
        defb 8, 1, BRIGHT + YELLOW         ; it is
        defw ATTRIBUTES + 19 * 32
        defb 16, 1, WHITE                  ; of right
        defw ATTRIBUTES + 21 * 32
        defb 32, 1, WHITE                  ; time
        defw ATTRIBUTES + 23 * 32
        defb 32, 1, CYAN                   ; keys
        defw 0
screen_end:
