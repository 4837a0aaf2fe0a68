; conv_pairs - a convolution of 3 x 3 on one-bit channels, one bit a unit out, from two weights a byte
;
; Each pair of units has a page: a byte 16 first + second, modulo 256, for each bit of the window, the first unit's bias at 254
; and 16 first + second of the biases at 255. A window's set bits are compiled into batches of three slots of a line of code,
; which ends in a jump written behind the last slot and runs once for each pair of units. The line sums the bytes in a, and in
; a' the first unit's weights, which hidden_nibble_page takes out of the bytes: the second unit's sum is a - 16 a'.
;
; In         hl = descriptor of 16 bytes: addresses of the map, the layer's scan, the output, the output of a window without a
;            bit; bytes of that output; bytes from a row of a window to the next, from a position to the next, from the end of
;            a row of positions to the next row; positions across and down; first page, page after the last
; Out        the output map: a byte for each 8 units of each position
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel conv_pairs counts non-empty bytes, bits and batches of the windows
; Bytes      292, and the line
; Needs      conv_pairs_line, behind it 3 bytes; hidden_nibble_page; eight units or a multiple
; Writes     own code (operands, the line)
conv_pairs:
        ld   de, conv_pairs_map
        ld   bc, 16
        ldir
        ex   af, af'
        push af
        ld   a, (conv_pairs_last)
        ld   (conv_pairs_end), a
        ld   hl, (conv_pairs_scan)
        ld   (conv_pairs_scan_entry), hl
        ld   de, (conv_pairs_map)
conv_pairs_row:                         ; de = first byte of the row's first window
        ld   a, (conv_pairs_across)
        ld   (conv_pairs_left), a
conv_pairs_window:                      ; de = first byte of the window
        push de
        ld   hl, conv_pairs_line + 1
        ld   ix, conv_pairs_slot_0
        call 0                          ; to the layer's scan
conv_pairs_scan_entry: equ $ - 2
        ld   de, conv_pairs_line + 1
        or   a
        sbc  hl, de
        jp   z, conv_pairs_no_bit
        add  hl, de
        dec  hl
        push hl                         ; the slot behind the last one becomes a jump
        ld   (hl), 0xC3
        inc  hl
        ld   a, (ix-2)
        ld   (hl), a
        inc  hl
        ld   a, (hl)
        ld   (conv_pairs_opcode), a
        ld   a, (ix-1)
        ld   (hl), a
        ld   a, (conv_pairs_first)
        ld   h, a
        ld   d, hidden_nibble_page / 256
        ld   ix, (conv_pairs_out)
conv_pairs_eight:                       ; h = page, ix = where the bits go
        ld   c, 0x80
conv_pairs_pair:                        ; h = page, c = bits of the units before, inverted, above a marker
        ld   l, 254
        ld   a, (hl)
        ex   af, af'
        inc  l
        ld   a, (hl)
        include "conv_pairs_line.asm"
conv_pairs_tail_1:                      ; b = a byte that is in no sum yet
        add  a, b
        ex   af, af'
        ex   de, hl
        ld   l, b
        add  a, (hl)
        ex   de, hl
        jp   conv_pairs_signs
conv_pairs_tail_2:                      ; b, e = bytes that are in no sum yet
        add  a, b
        add  a, e
        ex   af, af'
        ex   de, hl
        add  a, (hl)
        ld   l, b
        add  a, (hl)
        ex   de, hl
        jp   conv_pairs_signs
conv_pairs_tail_0:
        ex   af, af'
conv_pairs_signs:                       ; a = first unit's sum, a' = sum of the bytes
        add  a, a
        rr   c
        add  a, a
        add  a, a
        add  a, a
        ld   e, a
        ex   af, af'
        sub  e
        rla
        rr   c
        inc  h
        jp   nc, conv_pairs_pair
        ld   a, c
        cpl
        ld   (ix+0), a
        inc  ix
        ld   a, h
        cp   0
conv_pairs_end: equ $ - 1
        jp   nz, conv_pairs_eight
        ld   (conv_pairs_out), ix
        pop  hl
        ld   (hl), 0x2E                 ; the jump becomes a slot again: ld l, n
        inc  hl
        inc  hl
        ld   (hl), 0
conv_pairs_opcode: equ $ - 1
conv_pairs_next:
        pop  de
        ld   hl, (conv_pairs_step)
        ld   h, 0
        add  hl, de
        ex   de, hl
        ld   hl, conv_pairs_left
        dec  (hl)
        jp   nz, conv_pairs_window
        ld   hl, (conv_pairs_rest)
        ld   h, 0
        add  hl, de
        ex   de, hl
        ld   hl, conv_pairs_down
        dec  (hl)
        jp   nz, conv_pairs_row
        pop  af
        ex   af, af'
        ret

conv_pairs_no_bit:
        ld   hl, (conv_pairs_blank)
        ld   de, (conv_pairs_out)
        ld   bc, (conv_pairs_blank_nbytes)
        ld   b, 0
        ldir
        ld   (conv_pairs_out), de
        jp   conv_pairs_next

conv_pairs_slot:                        ; to the state: which slot of its batch the next bit takes
        jp   (ix)
        include "conv_pairs_slots.asm"

conv_pairs_map:                         ; the descriptor
        defs 2
conv_pairs_scan:
        defs 2
conv_pairs_out:
        defs 2
conv_pairs_blank:
        defs 2
conv_pairs_blank_nbytes:
        defs 1
conv_pairs_row_rest:
        defs 1
conv_pairs_step:
        defs 1
conv_pairs_rest:
        defs 1
conv_pairs_across:
        defs 1
conv_pairs_down:
        defs 1
conv_pairs_first:
        defs 1
conv_pairs_last:
        defs 1
conv_pairs_left:                        ; positions left in the row
        defs 1
