; conv_expand - a convolution of 3 x 3 on one-bit channels, one bit a unit out, from packed weights
;
; The bytes of three neighbouring places of a row are compiled into a line: `ld l, k / add a, (hl)` for each non-empty nibble,
; `inc h` where the tables go on in the next page, and ret. The line serves every window that holds the three places: only h
; differs. For each unit the weights are expanded into a table of 16 sums for each nibble of the window, then the layer's own
; code (conv_expand_run) calls the three lines of each position.
;
; The form for planes has the lines marked so instead of those that say so: the two bytes of a group look up the same tables, a
; line is twice the bytes that the descriptor says, a unit's second threshold follows its weights, two bytes of a cell are
; copied, and the lines lie behind the tables, where two more bytes of the descriptor say.
;
; In         hl = descriptor of 20 bytes: addresses of the map, the output, the weights, the layer's own code, and what expands
;            the weights; then bytes of three places, from line to line, after a row's lines; lines a row, rows, bytes of a line, groups of
;            eight units, cells of the output, bytes of an output place, nibbles of three places
; Out        the output map
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel conv_expand counts non-empty bytes and nibbles, and positions looked at
; Bytes      213; for planes 228
; Needs      bits_line, conv_page, conv_cell
; Writes     own code (operands of calls)
conv_expand:
        ld   de, conv_expand_map
        ld   bc, 20                     ; bits only
;planes ld   bc, 22
        ldir
        exx
        push hl
        exx
        ld   hl, (conv_expand_run)
        ld   (conv_expand_run_entry), hl
        ld   hl, (conv_expand_unpack)
        ld   (conv_expand_unpack_entry), hl
        ld   de, (conv_expand_map)
        ld   hl, bits_line              ; bits only
;planes ld   hl, (conv_expand_lines)
        ld   a, (conv_expand_rows)
        ld   ixh, a
conv_expand_row:                        ; de = first byte of the row, hl = its first line, ixh = rows left
        ld   a, (conv_expand_across)
        ld   ixl, a
conv_expand_three:                      ; de = first byte of three places, hl = their line, ixl = lines left in the row
        push de
        push hl
        ld   a, (conv_expand_three_nbytes)
        ld   b, a
        ld   c, 0
conv_expand_byte:                       ; c = position of the byte's tables in their page, b = bytes left
        ld   a, (de)
        or   a
        jr   z, conv_expand_next
        and  0x0F
        jr   z, conv_expand_high
        or   c
        ld   (hl), 0x2E                 ; ld l, k
        inc  hl
        ld   (hl), a
        inc  hl
        ld   (hl), 0x86                 ; add a, (hl)
        inc  hl
conv_expand_high:
        ld   a, (de)
        and  0xF0
        jr   z, conv_expand_next
        rrca
        rrca
        rrca
        rrca
        add  a, c
        add  a, 16
        ld   (hl), 0x2E
        inc  hl
        ld   (hl), a
        inc  hl
        ld   (hl), 0x86
        inc  hl
conv_expand_next:
        inc  de
;planes bit  0, b                       ; after the first plane's byte, the second's at the same tables
;planes jr   z, conv_expand_same_page
        ld   a, c
        add  a, 32
        ld   c, a
        jr   nz, conv_expand_same_page
        ld   (hl), 0x24                 ; inc h
        inc  hl
conv_expand_same_page:
        djnz conv_expand_byte
        ld   (hl), 0xC9                 ; ret
        pop  hl
        ld   a, (conv_expand_line_nbytes)
        ld   c, a
        add  hl, bc
;planes add  hl, bc
        pop  de
        ex   de, hl
        ld   a, (conv_expand_right)
        ld   c, a
        add  hl, bc
        ex   de, hl
        dec  ixl
        jr   nz, conv_expand_three
        ex   de, hl
        ld   a, (conv_expand_rest)
        ld   c, a
        add  hl, bc
        ex   de, hl
        dec  ixh
        jr   nz, conv_expand_row
        include "conv_expand_units.asm"

conv_expand_map:                        ; the descriptor
        defs 2
conv_expand_output:
        defs 2
conv_expand_weight:
        defs 2
conv_expand_run:
        defs 2
conv_expand_unpack:
        defs 2
conv_expand_three_nbytes:
        defs 1
conv_expand_right:
        defs 1
conv_expand_rest:
        defs 1
conv_expand_across:
        defs 1
conv_expand_rows:
        defs 1
conv_expand_line_nbytes:
        defs 1
conv_expand_eights:
        defs 1
conv_expand_cells:
        defs 1
conv_expand_stride:
        defs 1
conv_expand_nibbles:
        defs 1
conv_expand_lines:
;planes defs 2
