; The ten scores as bars: the lowest one pixel long, the highest the whole width.

BARS_ROW:       equ 10          ; character row of digit 0's bar
LABEL_COLUMN:   equ 17
BAR_CELLS:      equ 13
LABEL_TO_END:   equ 15          ; the label, a gap and the bar
BAR_LINES:      equ 6
BAR_LONGEST:    equ 104         ; pixels
DIGITS:         equ 10
BARS_COLOURS:   equ ATTRIBUTES + 32 * BARS_ROW + LABEL_COLUMN

; measure_bars - turn the ten scores into the lengths of their bars, in pixels
; Out        bar_lengths: ten bytes, 1..104
; Clobbers   f a bc de hl ix
; Bytes      72                 (with scale_bar)
measure_bars:
        call find_score_range
        ld   (bar_lowest), de
        ld   c, 0
measure_bars_halve:             ; hl = range, c = how often it was halved
        ld   a, h
        or   a
        jr   z, measure_bars_byte
        srl  h
        rr   l
        inc  c
        jr   measure_bars_halve
measure_bars_byte:
        ld   d, a               ; 0
        ld   e, l
        ld   a, c
        ld   (bar_halvings), a
        ld   a, e
        or   a
        jr   nz, measure_bars_divide
        inc  e
measure_bars_divide:            ; e = range, 1..255
        ld   hl, 256 * BAR_LONGEST - 257
        add  hl, de             ; 103 * 256 / e, rounded up
        call div_u16_u8
        ld   (bar_worth), hl
        ld   ix, scores
        ld   hl, bar_lengths
        ld   b, DIGITS
measure_bars_next:              ; ix = score, hl = its length, b = scores left
        push bc
        push hl
        ld   l, (ix+0)
        ld   h, (ix+1)
        inc  ix
        inc  ix
        call scale_bar
        pop  hl
        pop  bc
        ld   (hl), a
        inc  hl
        djnz measure_bars_next
        ret

; scale_bar - length of a bar: 1 + 103 * (score - lowest) / (highest - lowest), within one
; In         hl = score, u16;  bar_lowest, bar_halvings and bar_worth as measure_bars leaves them
; Out        a = length, 1..104
; Clobbers   f bc de hl
; Bytes      32
scale_bar:
        ld   de, (bar_lowest)
        or   a
        sbc  hl, de
        ld   a, (bar_halvings)
        ld   b, a
        inc  b
        jr   scale_bar_next
scale_bar_halve:                ; b = halvings left + 1
        srl  h
        rr   l
scale_bar_next:
        djnz scale_bar_halve
        ld   b, h
        ld   c, l
        ld   de, (bar_worth)
        call mul_u16_u16
        ld   a, h
        inc  a
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

; draw_bars - draw the bars, that of the digit read and another in colours of their own
; In         b = true digit, or second;  c = digit read;  read_colour, other_colour, bar_lengths
; Clobbers   f a de hl
; Bytes      89                 (with bar_address)
draw_bars:
        xor  a
draw_bars_next:                 ; a = digit
        push af
        push bc
        ld   l, a
        ld   h, WHITE           ; h = colour
        cp   b
        jr   nz, draw_bars_read
        ld   a, (other_colour)
        ld   h, a
draw_bars_read:
        ld   a, l
        cp   c
        jr   nz, draw_bars_colour
        ld   a, (read_colour)
        ld   h, a
draw_bars_colour:
        ld   a, h
        ld   h, 0
        push hl
        add  hl, hl
        add  hl, hl
        add  hl, hl
        add  hl, hl
        add  hl, hl
        ld   bc, BARS_COLOURS
        add  hl, bc
        ld   b, LABEL_TO_END
draw_bars_cell:                 ; hl = attribute, b = cells left
        ld   (hl), a
        inc  l                  ; a row of cells lies in one page
        djnz draw_bars_cell
        pop  hl
        ld   a, l
        ld   bc, bar_lengths
        add  hl, bc
        ld   b, (hl)
        ld   de, DIGITS
        add  hl, de             ; its bar_shown
        ld   c, a
        ld   a, b
        cp   (hl)
        jr   z, draw_bars_drawn
        ld   (hl), a
        ld   a, c
        call bar_address
        inc  l
        inc  l
        ex   de, hl
        ld   a, b
        call draw_bar
draw_bars_drawn:
        pop  bc
        pop  af
        inc  a
        cp   DIGITS
        jr   nz, draw_bars_next
        ret

bar_address:                    ; a = digit; hl = screen address of its name; changes f a de
        add  a, BARS_ROW
        add  a, a
        add  a, a
        add  a, a
        call line_address
        ld   de, LABEL_COLUMN
        add  hl, de
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
