; The ten scores as bars: the lowest one pixel long, the highest the whole width.

BARS_ROW:       equ 10          ; character row of digit 0's bar
LABEL_COLUMN:   equ 17
BAR_CELLS:      equ 13
LABEL_TO_END:   equ 15          ; the label, a gap and the bar
BAR_LINES:      equ 6
DIGITS:         equ 10

; draw_bars - draw the ten scores, the digit read and the true digit in colours of their own
; In         b = true digit;  c = digit read
; Clobbers   f a de hl ix
; Bytes      74
draw_bars:
        push bc
        call find_score_range
        pop  bc                 ; de = lowest score, hl = range
        ld   ix, scores
        xor  a
draw_bars_next:                 ; a = digit, ix = its score
        push af
        push bc
        push de
        push hl
        call colour_bar
        ld   b, a               ; b = digit
        push hl
        ld   l, (ix+0)
        ld   h, (ix+1)
        or   a
        sbc  hl, de
        pop  de
        push bc
        call scale_bar
        pop  bc
        ld   c, a               ; c = length
        ld   a, b
        add  a, BARS_ROW
        add  a, a
        add  a, a
        add  a, a
        call line_address
        ld   de, LABEL_COLUMN
        add  hl, de
        ex   de, hl
        ld   a, b
        add  a, ZERO
        call print_char
        inc  e
        ld   a, c
        call draw_bar
        pop  hl
        pop  de
        pop  bc
        inc  ix
        inc  ix
        pop  af
        inc  a
        cp   DIGITS
        jr   nz, draw_bars_next
        ret

; colour_bar - colour a bar and its label
; In         a = digit;  b = true digit;  c = digit read
; Clobbers   nothing
; Bytes      43
colour_bar:
        push af
        push bc
        push hl
        ld   l, a
        ld   h, WHITE           ; h = colour
        cp   b
        jr   nz, colour_bar_read
        ld   h, BRIGHT + YELLOW
colour_bar_read:
        cp   c
        jr   nz, colour_bar_fill
        ld   h, BRIGHT + RED
        cp   b
        jr   nz, colour_bar_fill
        ld   h, BRIGHT + GREEN
colour_bar_fill:
        ld   a, h
        ld   h, 0
        add  hl, hl
        add  hl, hl
        add  hl, hl
        add  hl, hl
        add  hl, hl
        ld   bc, ATTRIBUTES + 32 * BARS_ROW + LABEL_COLUMN
        add  hl, bc
        ld   b, LABEL_TO_END
colour_bar_cell:
        ld   (hl), a
        inc  l                  ; a row of cells lies in one page
        djnz colour_bar_cell
        pop  hl
        pop  bc
        pop  af
        ret

; find_score_range - find the lowest score and how far the highest lies above it
; Out        de = lowest;  hl = highest - lowest
; Clobbers   f a bc ix
; Bytes      49
find_score_range:
        ld   ix, scores
        ld   de, 0xFFFF         ; de = lowest so far
        ld   bc, 0              ; bc = highest so far
        ld   a, DIGITS
find_score_range_next:          ; ix = score, a = scores left
        ld   l, (ix+0)
        ld   h, (ix+1)
        push hl
        or   a
        sbc  hl, de
        pop  hl
        jr   nc, find_score_range_high
        ld   d, h
        ld   e, l
find_score_range_high:
        push hl
        or   a
        sbc  hl, bc
        pop  hl
        jr   c, find_score_range_on
        ld   b, h
        ld   c, l
find_score_range_on:
        inc  ix
        inc  ix
        dec  a
        jr   nz, find_score_range_next
        ld   h, b
        ld   l, c
        or   a
        sbc  hl, de
        ret

; scale_bar - length of a bar, in pixels
; In         hl = score - lowest, u16;  de = highest - lowest, u16
; Out        a = 1 + 103 * hl / de, with both cut to their top eight bits; 1 where de = 0
; Clobbers   f bc de hl
; Bytes      35
scale_bar:
        ld   a, d
        or   a
        jr   z, scale_bar_byte
        srl  d
        rr   e
        srl  h
        rr   l
        jr   scale_bar
scale_bar_byte:                 ; hl <= de < 256
        ld   a, e
        or   a
        jr   nz, scale_bar_divide
        inc  e
scale_bar_divide:
        push de
        ld   b, h
        ld   c, l
        ld   de, 8 * BAR_CELLS - 1
        call mul_u16_u16
        pop  de
        call div_u16_u8
        ld   a, l
        inc  a
        ret

; draw_bar - draw one bar, six lines high, over the one before
; In         a = length in pixels, 0..104;  de = screen address of its first cell
; Clobbers   f a bc d hl
; Bytes      57                 (with its line)
draw_bar:
        ld   hl, bar_line
        ld   b, BAR_CELLS
draw_bar_cell:                  ; a = pixels left, b = cells left
        ld   c, 0xFF
        sub  8
        jr   nc, draw_bar_put
        add  a, 8
        ld   c, 0
        jr   z, draw_bar_put
draw_bar_pixel:                 ; the last pixels, from the left
        scf
        rr   c
        dec  a
        jr   nz, draw_bar_pixel
draw_bar_put:
        ld   (hl), c
        inc  hl
        djnz draw_bar_cell
        ld   a, BAR_LINES
draw_bar_line:                  ; a = lines left
        inc  d
        push de
        ld   hl, bar_line
        ld   bc, BAR_CELLS
        ldir
        pop  de
        dec  a
        jr   nz, draw_bar_line
        ret

bar_line:
        defs BAR_CELLS
draw_bar_end:
