; conv_places - a convolution of 3 x 3 on channels of 0 to 2, the same out, from ternary weights packed by fives
;
; The channels of each place of the map that are not 0 are compiled into a line: `ld l, channel / add a, (hl)`, a second
; `add a, (hl)` for a channel of 2, and at the end `inc h` and ret. For each unit the weights are unpacked, a page for each place
; of the window, then the layer's own code (conv_places_run) calls the lines of each position's nine places. It takes less time
; than conv_expand where there are few positions.
;
; In         hl = descriptor of 24 bytes: addresses of the map, the output, the weights, the layer's own code, and what unpacks
;            the weights; groups of channels; of the lines that lie in the rest of the weights' pages their number, and in words
;            the first and the bytes to the next; the same of the other lines; groups of eight units, cells of the output, bytes
;            from one place of the output to the next less 1
; Out        the output map
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel conv_places counts groups, channels, and positions looked at
; Bytes      227
; Needs      conv_page, conv_cell
; Writes     own code (operands of calls)
conv_places:
        ld   de, conv_places_map
        ld   bc, 24
        ldir
        exx
        push hl
        exx
        ld   hl, (conv_places_run)
        ld   (conv_places_run_entry), hl
        ld   hl, (conv_places_unpack)
        ld   (conv_places_unpack_entry), hl
        ld   de, (conv_places_map)
        ld   hl, (conv_places_lines)
        ld   a, (conv_places_places)
        ld   ixh, a
conv_places_place:                      ; de = first byte of the place, hl = its line, ixh = places left
        push hl
        ld   c, 0
        ld   a, (conv_places_groups)
        ld   ixl, a
conv_places_group:                      ; de = the group's bytes, c = its first channel, ixl = groups left
        ld   a, (de)
        inc  de
        or   a
        jr   nz, conv_places_channels
        ld   a, c
        add  a, 8
        ld   c, a
        jp   conv_places_next
conv_places_channels:
        push de
        ld   b, a
        ld   a, (de)
        ld   d, a
        ld   e, b
        ld   b, 8
conv_places_channel:                    ; e = bits of 1 or more, d = bits of 2, of channel c first, b = channels left
        srl  e
        jr   nc, conv_places_skip
        ld   (hl), 0x2E                 ; ld l, channel
        inc  hl
        ld   (hl), c
        inc  hl
        ld   (hl), 0x86                 ; add a, (hl)
        inc  hl
        bit  0, d
        jr   z, conv_places_skip
        ld   (hl), 0x86
        inc  hl
conv_places_skip:
        srl  d
        inc  c
        djnz conv_places_channel
        pop  de
conv_places_next:
        inc  de
        dec  ixl
        jr   nz, conv_places_group
        ld   (hl), 0x24                 ; inc h
        inc  hl
        ld   (hl), 0xC9                 ; ret
        pop  hl
        ld   bc, (conv_places_line_nbytes)
        add  hl, bc
        dec  ixh
        jr   nz, conv_places_place
        ld   hl, conv_places_more
        ld   a, (hl)
        or   a
        jr   z, conv_places_eight
        ld   (hl), 0
        ld   ixh, a
        ld   hl, (conv_places_more_nbytes)
        ld   (conv_places_line_nbytes), hl
        ld   hl, (conv_places_more_lines)
        jp   conv_places_place
        include "conv_places_units.asm"

conv_places_map:                        ; the descriptor
        defs 2
conv_places_output:
        defs 2
conv_places_weight:
        defs 2
conv_places_run:
        defs 2
conv_places_unpack:
        defs 2
conv_places_groups:
        defs 1
conv_places_places:
        defs 1
conv_places_lines:
        defs 2
conv_places_line_nbytes:
        defs 2
conv_places_more:
        defs 1
conv_places_more_lines:
        defs 2
conv_places_more_nbytes:
        defs 2
conv_places_eights:
        defs 1
conv_places_cells:
        defs 1
conv_places_stride:
        defs 1
