; conv_pool - a convolution of 3 x 3 on eight one-bit channels, one bit a unit out, pooled, from tables of nibbles
;
; Each unit has a page: bias at 0; the sum of the weights of each nibble v of eight of the window's nine places at
; 16 v + 2 place (bits 0..3) and 16 v + 2 place + 1 (bits 4..7); that of each pair of bits v of the ninth place at 3 pair + v.
; The windows of a cell (the 2 x 2 positions that are pooled, or what is there of them) are compiled into a line of
; `ld l, k / add a, (hl)`, which then runs once a unit. In the line the first position whose sum is not negative ends the unit: its
; bit is set whatever the other positions say.
;
; In         hl = descriptor of 11 bytes: address of the map (on a page); bytes from a row of a window to the next, from a
;            position to the next, from a row of positions to the next; positions across and down; first page, page after the
;            last; address of the output
; Out        the output map: a byte for each 8 units of each cell
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel conv_pool counts non-empty bytes and nibbles, and positions looked at
; Bytes      815
; Needs      to start on a page; eight units or a multiple
; Writes     own code (the line and operands)
conv_pool_start:
conv_pool:
        ld   de, conv_pool_map
        ld   bc, 11
        ldir
        ld   a, (conv_pool_last)
        ld   (conv_pool_end), a
        ld   a, (conv_pool_stride)
        ld   (conv_pool_right), a
        ld   a, (conv_pool_window_down)
        ld   (conv_pool_down_1 + 1), a
        ld   (conv_pool_down_2 + 1), a
        ld   de, (conv_pool_map)
        ld   a, (conv_pool_rows)
conv_pool_row:                         ; a = rows of positions left, de = first window of the row of cells
        ld   (conv_pool_rows), a
        cp   2
        jr   c, conv_pool_high_known
        ld   a, 2
conv_pool_high_known:
        ld   (conv_pool_high), a
        push de
        ld   a, (conv_pool_across)
conv_pool_cell:                        ; a = positions left in the row, de = first window of the cell
        ld   (conv_pool_left), a
        cp   2
        jr   c, conv_pool_wide_known
        ld   a, 2
conv_pool_wide_known:
        ld   (conv_pool_wide), a
        push de
        ld   hl, conv_pool_line
        ld   bc, 0x2E86                 ; b = ld l, n   c = add a, (hl)
        ld   ix, (conv_pool_wide)      ; ixl = positions left in the row of the cell, ixh = rows left
conv_pool_window_row:
        push de
conv_pool_window:                      ; de = first byte of the window, hl = where the line goes on
        push de
        include "conv_pool_scan.asm"
        dec  hl
        ld   a, (hl)
        inc  hl
        cp   c
        jr   z, conv_pool_window_end
        ld   (hl), 0xB7                 ; no slot that sets the flags: or a
        inc  l
conv_pool_window_end:
        pop  de
        ld   a, e
        add  a, 0
conv_pool_right: equ $ - 1
        ld   e, a
        ld   (hl), 0xF2                 ; jp p, conv_pool_done
        inc  l
        ld   (hl), conv_pool_done - conv_pool_done / 256 * 256
        inc  l
        ld   (hl), conv_pool_done / 256
        inc  l
        ld   (hl), 0x78                 ; ld a, b
        inc  l
        dec  ixl
        jp   nz, conv_pool_window
        ld   a, (conv_pool_wide)
        ld   ixl, a
        pop  de
        ld   a, (conv_pool_next_row)
        add  a, e
        ld   e, a
        dec  ixh
        jp   nz, conv_pool_window_row
        ld   a, l
        sub  4
        ld   l, a
        ld   (hl), 0xC3                 ; the last jump is jp conv_pool_done
        ld   de, (conv_pool_out)
        ld   a, (conv_pool_first)
        ld   h, a
        ld   c, 0x80
        jp   conv_pool_unit

conv_pool_map:                         ; the descriptor
        defs 2
conv_pool_window_down:
        defs 1
conv_pool_stride:
        defs 1
conv_pool_next_row:
        defs 1
conv_pool_across:
        defs 1
conv_pool_rows:
        defs 1
conv_pool_first:
        defs 1
conv_pool_last:
        defs 1
conv_pool_out:
        defs 2
conv_pool_left:
        defs 1
conv_pool_wide:
        defs 1
conv_pool_high:
        defs 1

        defs conv_pool_start + 487 - $
conv_pool_byte:                        ; c = the bits of eight units, inverted; de = where they go
        ld   a, c
        cpl
        ld   (de), a
        inc  de
        ld   c, 0x80
        ld   a, h
        cp   0
conv_pool_end: equ $ - 1
        jp   nz, conv_pool_unit
        jp   conv_pool_cell_end
conv_pool_done:                        ; the sign of a is the unit's bit inverted
        rla
        rr   c                          ; carry: eight units are done
        inc  h
        jr   c, conv_pool_byte
conv_pool_unit:                        ; h = page of the unit, c = bits so far below a marker, de = where they go
        ld   l, 0
        ld   b, (hl)                    ; b = bias
        ld   a, b
conv_pool_line:                        ; at the start of a page: up to four positions of at most 20 slots, 64 bytes each
        defs 256
conv_pool_cell_end:
        ld   (conv_pool_out), de
        pop  de
        ld   a, (conv_pool_wide)
        ld   b, a
        ld   c, a
conv_pool_next_cell:
        ld   a, (conv_pool_stride)
        add  a, e
        ld   e, a
        djnz conv_pool_next_cell
        ld   a, (conv_pool_left)
        sub  c
        jp   nz, conv_pool_cell
        pop  de
        ld   a, (conv_pool_high)
        ld   b, a
conv_pool_down:
        ld   a, (conv_pool_next_row)
        add  a, e
        ld   e, a
        djnz conv_pool_down
        ld   hl, conv_pool_high
        ld   a, (conv_pool_rows)
        sub  (hl)
        jp   nz, conv_pool_row
        ret
