; conv_bits - a convolution of 3 x 3 on one-bit channels, one bit a unit out, from a page of weights a unit
;
; A unit's page has a byte for each bit of the window and the bias at 255. A window's set bits are compiled into a line of
; `ld l, k / add a, (hl)`, from its end downwards, which is then run from the last slot written, once for each unit.
;
; In         hl = descriptor of 16 bytes: addresses of the map, the layer's scan, the output, the output of a window without a
;            bit; bytes of that output; bytes from a row of a window to the next, from a position to the next, from the end of
;            a row of positions to the next row; positions across and down; first page, page after the last
; Out        the output map: a byte for each 8 units of each position
; Clobbers   af bc de hl
; T-states   exact in the map: the Cost of the kernel conv_bits counts non-empty bytes and bits of the windows
; Bytes      179, and the line
; Needs      conv_bits_line, a slot for each bit of a window; eight units or a multiple
; Writes     own code (operands, the line)
conv_bits:
        ld   de, conv_bits_map
        ld   bc, 16
        ldir
        ld   a, (conv_bits_last)
        ld   (conv_bits_end), a
        ld   hl, (conv_bits_scan)
        ld   (conv_bits_scan_entry), hl
        ld   de, (conv_bits_map)
conv_bits_row:                          ; de = first byte of the row's first window
        ld   a, (conv_bits_across)
        ld   (conv_bits_left), a
conv_bits_window:                       ; de = first byte of the window
        push de
        ld   hl, conv_bits_line_end - 2
        call 0                          ; to the layer's scan
conv_bits_scan_entry: equ $ - 2
        ld   de, conv_bits_line_end - 2
        or   a
        sbc  hl, de
        jp   z, conv_bits_no_bit
        add  hl, de
        inc  hl
        inc  hl
        ld   (conv_bits_first_entry), hl
        ld   (conv_bits_entry), hl
        ld   a, (conv_bits_first)
        ld   h, a
        ld   de, (conv_bits_out)
conv_bits_eight:                        ; h = page, de = where the bits go
        ld   c, 0x80                    ; c = bits of the units before, inverted, above a marker
        ld   l, 255
        ld   a, (hl)
        jp   0                          ; to the last slot written
conv_bits_first_entry: equ $ - 2
        include "conv_bits_line.asm"
conv_bits_line_end:                     ; h = page, a = sum
        rla
        rr   c
        inc  h
        ld   l, 255
        ld   a, (hl)
        jp   nc, 0                      ; to the last slot written
conv_bits_entry: equ $ - 2
        ld   a, c
        cpl
        ld   (de), a
        inc  de
        ld   a, h
        cp   0
conv_bits_end: equ $ - 1
        jp   nz, conv_bits_eight
        ld   (conv_bits_out), de
conv_bits_next:
        pop  de
        ld   hl, (conv_bits_step)
        ld   h, 0
        add  hl, de
        ex   de, hl
        ld   hl, conv_bits_left
        dec  (hl)
        jp   nz, conv_bits_window
        ld   hl, (conv_bits_rest)
        ld   h, 0
        add  hl, de
        ex   de, hl
        ld   hl, conv_bits_down
        dec  (hl)
        jp   nz, conv_bits_row
        ret

conv_bits_no_bit:
        ld   hl, (conv_bits_blank)
        ld   de, (conv_bits_out)
        ld   bc, (conv_bits_blank_nbytes)
        ld   b, 0
        ldir
        ld   (conv_bits_out), de
        jp   conv_bits_next

conv_bits_slot:                         ; a = bits of a byte, c = its code, hl = operand of the next slot
        ld   b, a
        dec  a
        and  b
        xor  b                          ; a = lowest bit
        xor  c
        ld   (hl), a
        dec  hl
        dec  hl
        dec  hl
        xor  c
        xor  b                          ; a = the bits left
        jp   nz, conv_bits_slot
        ret

conv_bits_map:                          ; the descriptor
        defs 2
conv_bits_scan:
        defs 2
conv_bits_out:
        defs 2
conv_bits_blank:
        defs 2
conv_bits_blank_nbytes:
        defs 1
conv_bits_row_rest:
        defs 1
conv_bits_step:
        defs 1
conv_bits_rest:
        defs 1
conv_bits_across:
        defs 1
conv_bits_down:
        defs 1
conv_bits_first:
        defs 1
conv_bits_last:
        defs 1
conv_bits_left:                         ; positions left in the row
        defs 1
