; The drawing made to look like the pictures the net has learned from.

CANVAS_SIDE:    equ 56          ; a canvas is 56 rows of 7 bytes, bit 7 of the first is the leftmost cell
CANVAS_PITCH:   equ 7
SQUARE_SIDE:    equ 20          ; the digit's longer side in the picture
SQUARE_MIDDLE:  equ 14          ; the row and column of the picture where the centre of mass goes
SQUARE_LAST:    equ 8           ; 28 - 20: the last row and column where the square may begin
SIDE_LEAST:     equ 10          ; of a box: smaller ones are magnified no more than twice
SIDE_FOR_2:     equ 28          ; from this side on, two cells decide on a pixel along each axis
SIDE_FOR_3:     equ 42          ; and from this one on, three

; normalise - box, scale and centre a drawing, as zxml/normalise.py defines it
;
; The box of the drawing becomes a square of 20 x 20 pixels. Each pixel looks at one point of the canvas, in the middle of the
; cells it stands for, and is set if any cell of a window there is set; the window grows with the box, so that a pen's strokes
; come out about as thick as the digits' in MNIST. The square is put where its centre of mass is in the middle of the picture.
;
; In         hl = canvas: 56 rows of 7 bytes;  de = picture to write: 28 rows of 4 bytes
; Out        the picture;  carry set = it is blank: the canvas is, or has but specks between the points looked at
; Clobbers   af bc de hl ix
; T-states   9939..142000       (a blank canvas; a bound, the worst known takes 141326; digits take 84000..137000)
; Bytes      651                (and behind them 156 of buffers, whatever is in them)
; Stack      8
normalise:
        ld   (normalise_picture), de
        push hl
        ld   h, d
        ld   l, e
        ld   (hl), 0
        inc  de
        ld   bc, 111
        ldir                    ; a blank picture
        pop  hl
        call normalise_box
        ret  c
        call normalise_plan
        call normalise_sample
        call normalise_weigh
        ld   de, (normalise_count)
        ld   a, d
        or   e
        scf
        ret  z
        call normalise_write
        or   a                  ; carry clear
        ret

normalise_box:                  ; hl = canvas; carry set = it is blank; else c = left column of the box, b = its columns
        push hl
        ld   de, normalise_line
        ld   b, CANVAS_PITCH
normalise_used:                 ; hl = canvas row, de = byte to write: which of 8 rows hold a cell, b = bytes left
        ld   c, 1               ; the 1 comes out after 8 rows
normalise_used_row:
        xor  a
        or   (hl)
        inc  hl
        or   (hl)
        inc  hl
        or   (hl)
        inc  hl
        or   (hl)
        inc  hl
        or   (hl)
        inc  hl
        or   (hl)
        inc  hl
        or   (hl)
        inc  hl
        add  a, 255             ; carry = the row holds a cell
        rl   c
        jr   nc, normalise_used_row
        ld   a, c
        ld   (de), a
        inc  de
        djnz normalise_used
        call normalise_span     ; c = first row, b = rows
        pop  hl
        ret  c
        ld   a, b
        ld   (normalise_height), a
        ld   de, CANVAS_PITCH
        inc  c
        jr   normalise_top_next
normalise_top_row:
        add  hl, de
normalise_top_next:             ; c = rows to step over + 1
        dec  c
        jr   nz, normalise_top_row
        ld   (normalise_top), hl
        ld   ix, normalise_line
        ld   c, CANVAS_PITCH
normalise_columns_byte:         ; hl = top byte of 8 columns, ix = byte to write: which of them hold a cell, c = bytes left
        push hl
        ld   a, (normalise_height)
        ld   b, a
        xor  a
normalise_columns_row:
        or   (hl)
        add  hl, de
        djnz normalise_columns_row
        ld   (ix+0), a
        inc  ix
        pop  hl
        inc  hl
        dec  c
        jr   nz, normalise_columns_byte
                                ; on into normalise_span, for the columns
normalise_span:                 ; carry set = the line is blank; else c = its first bit set, b = bits from there to the last one
        ld   hl, normalise_line
        ld   bc, CANVAS_PITCH * 256
normalise_span_first:
        ld   a, (hl)
        or   a
        jr   nz, normalise_span_bit
        inc  hl
        ld   a, c
        add  a, 8
        ld   c, a
        djnz normalise_span_first
        scf
        ret
normalise_span_bit:
        rlca
        jr   c, normalise_span_found
        inc  c
        jr   normalise_span_bit
normalise_span_found:
        ld   hl, normalise_line + CANVAS_PITCH - 1
        ld   b, CANVAS_SIDE + 8
normalise_span_last:
        ld   a, b
        sub  8
        ld   b, a
        ld   a, (hl)
        dec  hl
        or   a
        jr   z, normalise_span_last
normalise_span_back:
        rrca
        jr   c, normalise_span_ends
        dec  b
        jr   normalise_span_back
normalise_span_ends:
        ld   a, b
        sub  c
        ld   b, a
        ret                     ; carry clear

normalise_plan:                 ; c = left column of the box, b = its columns: where to look for each pixel
        ld   hl, normalise_height
        ld   a, (hl)
        cp   b
        jr   nc, normalise_side
        ld   a, b
normalise_side:
        cp   SIDE_LEAST
        jr   nc, normalise_side_found
        ld   a, SIDE_LEAST
normalise_side_found:
        ld   d, a               ; d = side
        sub  b
        srl  a
        ld   e, a
        ld   a, c
        sub  e
        ld   c, a               ; c = column of the canvas where the square begins, s8
        ld   a, d
        sub  (hl)
        srl  a
        ld   (normalise_above), a
        ld   e, 1
        ld   a, d
        cp   SIDE_FOR_2
        jr   c, normalise_window_found
        inc  e
        cp   SIDE_FOR_3
        jr   c, normalise_window_found
        inc  e
normalise_window_found:
        ld   hl, normalise_window
        ld   (hl), e
        dec  e
        srl  e
        ld   hl, normalise_points
        ld   b, SQUARE_SIDE
        ld   a, d
        sla  d                  ; d = step from point to point, in 1/40 of a cell
normalise_point:                ; e = cell of the point, a = how far into it in 1/40, b = points left
        cp   2 * SQUARE_SIDE
        jr   c, normalise_point_put
        sub  2 * SQUARE_SIDE
        inc  e
        jr   normalise_point
normalise_point_put:
        ld   (hl), e
        inc  hl
        add  a, d
        djnz normalise_point

        ld   hl, normalise_points
        ld   de, normalise_looks
        ld   b, SQUARE_SIDE
normalise_look:                 ; hl = point, de = where its byte and bit in the line go, b = points left
        ld   a, (hl)
        inc  hl
        add  a, c
        push bc
        ld   c, a               ; c = column of the canvas, s8
        rrca
        rrca
        rrca
        and  31
        add  a, NORMALISE_LINE_LOW
        ld   (de), a
        inc  de
        ld   a, c
        and  7
        ld   b, a
        inc  b
        ld   a, 1
normalise_look_bit:
        rrca
        djnz normalise_look_bit
        bit  7, c
        jr   nz, normalise_look_beside
        bit  6, c
        jr   z, normalise_look_put
normalise_look_beside:
        xor  a                  ; beside the canvas
normalise_look_put:
        ld   (de), a
        inc  de
        pop  bc
        djnz normalise_look
        ret

normalise_sample:               ; the square from the canvas, a row at a time: the line holds all rows of its window
        ld   ix, normalise_square
        ld   hl, normalise_points
        ld   b, SQUARE_SIDE
normalise_row:                  ; hl = point, ix = row of the square, b = rows left
        push bc
        push hl
        ld   a, (hl)
        ld   hl, normalise_above
        sub  (hl)
        ld   c, a               ; c = row of the box, s8
        ld   hl, normalise_line - 1
        ld   b, 9
        xor  a
normalise_row_clear:
        ld   (hl), a
        inc  l
        djnz normalise_row_clear
        ld   a, (normalise_window)
        ld   b, a
normalise_row_add:              ; b = rows of the box to add: c and those above it
        ld   a, (normalise_height)
        dec  a
        cp   c
        jr   c, normalise_row_added ; above or below the box
        ld   l, c
        ld   h, 0
        ld   d, h
        ld   e, l
        add  hl, hl
        add  hl, hl
        add  hl, hl
        sbc  hl, de             ; hl = row * 7
        ld   de, (normalise_top)
        add  hl, de
        ld   de, normalise_line
        ld   a, (de)
        or   (hl)
        ld   (de), a
        inc  hl
        inc  e
        ld   a, (de)
        or   (hl)
        ld   (de), a
        inc  hl
        inc  e
        ld   a, (de)
        or   (hl)
        ld   (de), a
        inc  hl
        inc  e
        ld   a, (de)
        or   (hl)
        ld   (de), a
        inc  hl
        inc  e
        ld   a, (de)
        or   (hl)
        ld   (de), a
        inc  hl
        inc  e
        ld   a, (de)
        or   (hl)
        ld   (de), a
        inc  hl
        inc  e
        ld   a, (de)
        or   (hl)
        ld   (de), a
normalise_row_added:
        dec  c
        djnz normalise_row_add
        ld   a, (normalise_window)
        ld   c, a
        jr   normalise_widen_next
normalise_widen:                ; c = cells to widen the line by, to the right
        ld   hl, normalise_line
        ld   de, 0
        ld   b, 4
normalise_widen_pair:           ; hl = byte to widen, d = the one before it as it was, b = pairs left
        ld   e, (hl)
        ld   a, d
        rra                     ; carry = the cell before the byte
        ld   a, e
        rra
        or   e
        ld   (hl), a
        inc  l
        ld   d, (hl)
        ld   a, e
        rra
        ld   a, d
        rra
        or   d
        ld   (hl), a
        inc  l
        djnz normalise_widen_pair
normalise_widen_next:
        dec  c
        jr   nz, normalise_widen
        ld   hl, normalise_looks
        ld   d, NORMALISE_LINE_HIGH
        ld   c, 1
        call normalise_take
        ld   (ix+0), c
        ld   c, 1
        call normalise_take
        ld   (ix+1), c
        ld   c, 16
        call normalise_take
        ld   a, c
        add  a, a
        add  a, a
        add  a, a
        add  a, a
        ld   (ix+2), a
        ld   bc, 3
        add  ix, bc
        pop  hl
        inc  hl
        pop  bc
        dec  b
        jp   nz, normalise_row
        ret

normalise_take:                 ; hl = looks, d = page of the line, c = 1 above as many zeros as other looks are to be taken
        ld   e, (hl)
        inc  hl
        ld   a, (de)
        and  (hl)
        inc  hl
        add  a, 255             ; carry = the cell is set
        rl   c
        jr   nc, normalise_take
        ret                     ; c = pixels

normalise_weigh:                ; ix = sum of column + 1 over the square's pixels, and in memory that of row + 1, and the pixels
        ld   hl, 0
        ld   (normalise_count), hl
        ld   (normalise_row_sum), hl
        ld   ix, 0              ; ix = sum of column + 1
        ld   hl, normalise_square_end - 1
        ld   b, SQUARE_SIDE
normalise_mass:                 ; hl = last byte of a row, b = rows left; rows and pixels are counted from their ends, so that
        push bc                 ; adding up the count after each one weighs each pixel with its row or column + 1
        ld   de, 3              ; d = 0, e = pixels in the row
        ld   c, e
        ld   e, d
        xor  a                  ; a = sum of column + 1 in the row
normalise_mass_byte:
        ld   b, 8
        push bc
        ld   c, (hl)
        inc  c
        dec  c
        jr   nz, normalise_mass_bit
        ld   b, a               ; the count stays the same for eight columns
        ld   a, e
        add  a, a
        add  a, a
        add  a, a
        add  a, b
        jr   normalise_mass_next
normalise_mass_bit:             ; c = pixels left, b = bits left
        srl  c
        jr   nc, normalise_mass_blank
        inc  e
normalise_mass_blank:
        add  a, e
        djnz normalise_mass_bit
normalise_mass_next:
        pop  bc
        dec  hl
        dec  c                  ; c = bytes left
        jr   nz, normalise_mass_byte
        ld   b, d
        ld   c, a
        add  ix, bc
        push hl
        ld   hl, (normalise_count)
        add  hl, de
        ld   (normalise_count), hl
        ld   de, (normalise_row_sum)
        add  hl, de
        ld   (normalise_row_sum), hl
        pop  hl
        pop  bc
        djnz normalise_mass
        ret

normalise_write:                ; de = pixels in the square, ix = sum of column + 1: the picture from the square
        push ix
        pop  hl
        call normalise_place
        ld   c, a               ; c = first column
        ld   hl, (normalise_row_sum)
        call normalise_place    ; a = first row
        add  a, a
        add  a, a
        ld   e, a
        ld   d, 0
        ld   ix, (normalise_picture)
        add  ix, de
        ld   hl, normalise_square
        ld   b, SQUARE_SIDE
normalise_write_row:            ; hl = row of the square, ix = row of the picture, b = rows left, c = pixels to shift by
        push bc
        ld   b, c
        ld   c, (hl)
        inc  hl
        ld   d, (hl)
        inc  hl
        ld   e, (hl)
        inc  hl
        xor  a                  ; cdea = row
        inc  b
        jr   normalise_write_next
normalise_write_shift:
        srl  c
        rr   d
        rr   e
        rra
normalise_write_next:
        djnz normalise_write_shift
        ld   (ix+0), c
        ld   (ix+1), d
        ld   (ix+2), e
        ld   (ix+3), a
        ld   de, 4
        add  ix, de
        pop  bc
        djnz normalise_write_row
        ret

normalise_place:                ; hl = sum of place + 1, de = pixels; a = where the square begins along this axis
        push de
        add  hl, hl
        or   a
        sbc  hl, de             ; hl = 2 * sum of place + pixels
        ex   de, hl
        add  hl, hl
        ex   de, hl             ; de = 2 * pixels: hl / de is the centre, rounded
        ld   a, SQUARE_MIDDLE
normalise_place_next:           ; carry clear, a = 14 - quotient
        sbc  hl, de
        jr   c, normalise_place_found
        dec  a
        jr   nz, normalise_place_next
normalise_place_found:
        pop  de
        cp   SQUARE_LAST + 1
        ret  c
        ld   a, SQUARE_LAST
        ret
normalise_end:

normalise_picture:
        defs 2                  ; address of the picture
normalise_top:
        defs 2                  ; address of the box's first row
normalise_height:
        defs 1                  ; of the box
normalise_above:
        defs 1                  ; rows of the square's side that lie above the box
normalise_window:
        defs 1                  ; 1, 2 or 3 cells
normalise_count:
        defs 2                  ; pixels set in the square
normalise_row_sum:
        defs 2                  ; sum of row + 1 over them
normalise_points:
        defs 20                 ; the last cell of each window, from the square's edge
normalise_looks:
        defs 40                 ; low byte of the address in the line, and bit, of each column's point
normalise_square:
        defs 60                 ; 20 rows of 3 bytes
normalise_square_end:
normalise_slack:
        defs 25                 ; a blank byte and the line, eight bytes, within a page
normalise_line: equ normalise_slack / 16 * 16 + 17
NORMALISE_LINE_HIGH: equ normalise_line / 256
NORMALISE_LINE_LOW: equ normalise_line - NORMALISE_LINE_HIGH * 256
normalise_buffers_end:
