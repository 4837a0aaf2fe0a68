; conv_table - a convolution of 3 x 3 on eight one-bit channels, one bit a unit out, from tables of nibbles
;
; Each unit has a page: bias at 0; the sum of the weights of each nibble v of eight of the window's nine places at
; 16 v + 2 place (bits 0..3) and 16 v + 2 place + 1 (bits 4..7); that of each pair of bits v of the ninth place at 3 pair + v.
; A window is compiled into a line of `ld l, k / add a, (hl)`, which then runs for eight units at a time.
;
; In         hl = descriptor of 11 bytes: address of the map (on a page); bytes from a row of a window to the next, from a
;            position to the next, from the end of a row of positions to the next row; positions across and down; first page,
;            page after the last; address of the output
; Out        the output map: a byte for each 8 units of each position
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel conv_table counts non-empty bytes and nibbles
; Bytes      454
; Needs      conv_table_line, within a page: `ld l, 0 / ld a, (hl)` and room for 20 slots and 8 bytes; eight units or a multiple
; Writes     own code (operands)
conv_table:
        ld   de, conv_table_map
        ld   bc, 11
        ldir
        ld   a, (conv_table_last)
        ld   (conv_table_end), a
        ld   a, (conv_table_window_down)
        ld   (conv_table_down_1 + 1), a
        ld   (conv_table_down_2 + 1), a
        ld   de, (conv_table_map)
        ld   ix, (conv_table_across)
conv_table_window:                      ; de = first byte of the window, ixl = positions left in the row, ixh = rows left
        push de
        ld   hl, conv_table_line + 3
        ld   bc, 0x2E86                 ; b = ld l, n   c = add a, (hl)
        include "conv_table_scan.asm"
        ld   (hl), 0x17                 ; rla: the sign is the unit's bit inverted
        inc  l
        ld   (hl), 0xCB                 ; rr c: carry: eight units are done
        inc  l
        ld   (hl), 0x19
        inc  l
        ld   (hl), 0x24                 ; inc h
        inc  l
        ld   (hl), 0xD2                 ; jp nc, conv_table_line
        inc  l
        ld   (hl), conv_table_line - conv_table_line / 256 * 256
        inc  l
        ld   (hl), conv_table_line / 256
        inc  l
        ld   (hl), 0xC9                 ; ret
        ld   de, (conv_table_out)
        ld   a, (conv_table_first)
        ld   h, a
        ld   c, 0x80
conv_table_eight:                       ; h = page of the next unit, c = marker, de = where the bits go
        call conv_table_line
        ld   a, c
        cpl
        ld   (de), a
        inc  de
        ld   c, 0x80
        ld   a, h
        cp   0
conv_table_end: equ $ - 1
        jr   nz, conv_table_eight
        ld   (conv_table_out), de
        pop  de
        ld   a, (conv_table_stride)
        add  a, e
        ld   e, a
        dec  ixl
        jp   nz, conv_table_window
        ld   a, (conv_table_across)
        ld   ixl, a
        ld   a, (conv_table_rest)
        add  a, e
        ld   e, a
        dec  ixh
        jp   nz, conv_table_window
        ret

conv_table_map:                         ; the descriptor
        defs 2
conv_table_window_down:
        defs 1
conv_table_stride:
        defs 1
conv_table_rest:
        defs 1
conv_table_across:                      ; before the positions down
        defs 2
conv_table_first:
        defs 1
conv_table_last:
        defs 1
conv_table_out:
        defs 2
