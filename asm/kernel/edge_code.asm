; edge_code - compile the runs of set pixels in the picture's window into two lines of code
;
; A page of prefix sums holds P[k] = sum of the weights of pixels 0..k-1, so a run of set pixels a..b-1 is worth P[b] - P[a].
; Each line is a fixed row of slots, `ld l, k` with `sub (hl)` and `add a, (hl)` in turn: only the positions k are written,
; from the end of the line downwards as the picture is read from its end upwards, and the line is entered at the last slot
; written. The window is 20 columns from column 4; its upper half goes to line 1, its lower half to line 2.
;
; In         hl = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel
; Out        both lines, and their entries in edge_sum
; Clobbers   af bc de hl ix
; T-states   exact in the picture: the Cost of the kernel edge_sum counts edges, bytes that hold one, and runs at the border
; Bytes      132
; Needs      EDGE_END = bytes before the window's last two pixels, EDGE_HALF_ROWS, EDGE_LAST_ROW, edge_column_page
; Writes     own code (edge_line_1, edge_line_2, edge_1_entry, edge_2_entry)
edge_code:
        ld   de, EDGE_END
        add  hl, de
        ld   b, edge_column_page / 256
        ld   de, edge_line_2_end - 2    ; the operand of the last slot
        call edge_code_half
        ld   (edge_2_entry), de
        ld   de, edge_line_1_end - 2
        call edge_code_half
        ld   (edge_1_entry), de
        ret

edge_code_half:                         ; de = operand of the line's last slot
        ld   ixl, EDGE_LAST_ROW
        ld   ixh, EDGE_HALF_ROWS
edge_code_row:                          ; hl = last byte of the row, de = next operand to write, ixh = rows left,
        ld   c, (hl)                    ; ixl = position of column 0 modulo 256 (pixel 0 is in column 4)
        bit  0, c
        jr   z, edge_code_byte_2
        ld   a, 24                      ; a run that touches the right border ends there
        add  a, ixl
        ld   (de), a
        dec  de
        dec  de
        dec  de
edge_code_byte_2:                       ; c = pixels 12..19
        dec  hl
        ld   a, (hl)
        rra                             ; carry = the pixel before them
        ld   a, c
        rra
        xor  c                          ; a set bit: this pixel differs from the one before it
        jr   z, edge_code_byte_1
        ld   c, a
edge_code_bit_2:                        ; c = edges left in the byte
        ld   a, (bc)                    ; the column of its lowest set bit, 0..7
        add  a, 16
        add  a, ixl
        ld   (de), a
        dec  de
        dec  de
        dec  de
        ld   a, c                       ; clear the lowest set bit
        dec  a
        and  c
        ld   c, a
        jr   nz, edge_code_bit_2
edge_code_byte_1:
        ld   c, (hl)                    ; pixels 4..11
        dec  hl
        ld   a, (hl)
        rra
        ld   a, c
        rra
        xor  c
        jr   z, edge_code_byte_0
        ld   c, a
edge_code_bit_1:
        ld   a, (bc)
        add  a, 8
        add  a, ixl
        ld   (de), a
        dec  de
        dec  de
        dec  de
        ld   a, c
        dec  a
        and  c
        ld   c, a
        jr   nz, edge_code_bit_1
edge_code_byte_0:
        ld   a, (hl)                    ; pixels 0..3, after four columns outside the window
        and  0x0F
        ld   c, a
        rra                             ; carry is clear: the pixel before the row is blank
        xor  c
        jr   z, edge_code_next
        ld   c, a
edge_code_bit_0:
        ld   a, (bc)
        add  a, ixl
        ld   (de), a
        dec  de
        dec  de
        dec  de
        ld   a, c
        dec  a
        and  c
        ld   c, a
        jr   nz, edge_code_bit_0
edge_code_next:
        dec  hl
        dec  hl
        ld   a, ixl
        sub  20
        ld   ixl, a
        dec  ixh
        jr   nz, edge_code_row
        inc  de                         ; the slot of operand k starts at k - 1, and the last written is 3 above de
        inc  de
        ret
