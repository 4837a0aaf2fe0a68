; conv_threes - a convolution of 3 x 3 on channels of 0 to 2, the same out, from ternary weights packed by threes
;
; Each place of the map gets a page of tables: for each three channels the 27 sums that weights of -1, 0 and 1 can make of them,
; in the order of the weights' number. For each unit the weights are copied into a line of look-ups for the nine places of a
; window, `ld l, k / add a, (hl)` for each three channels and `inc h` from page to page, which the layer's own code runs for
; each position. That takes less time than conv_places where most channels are not 0.
;
; In         hl = descriptor of 16 bytes: addresses of the map, the output, the weights, the layer's own code, and what unpacks
;            the weights; groups of eight channels, bytes of a place's values, places, groups of eight units, cells of the output,
;            bytes from one place of the output to the next less 1
; Out        the output map
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel conv_threes
; Bytes      297
; Needs      conv_page, conv_cell; conv_value on a page
; Writes     own code (operands of calls, a limit)
conv_threes:
        ld   de, conv_threes_map
        ld   bc, 16
        ldir
        exx
        push hl
        exx
        ld   hl, (conv_threes_run)
        ld   (conv_threes_run_entry), hl
        ld   hl, (conv_threes_unpack)
        ld   (conv_threes_unpack_entry), hl
        ld   a, (conv_threes_value_nbytes)
        ld   (conv_threes_limit), a
        ld   de, (conv_threes_map)
        ld   hl, conv_page
        ld   a, (conv_threes_places)
conv_threes_place:                      ; de = the place's bytes, hl = its page, a = places left
        push af
        push hl
        ld   hl, conv_value
        ld   a, (conv_threes_groups)
        ld   c, a
conv_threes_group:                      ; de = the group's bytes, hl = where its values go, c = groups left
        ld   a, (de)
        inc  de
        ld   b, a
        ld   a, (de)
        inc  de
        push de
        ld   d, b
        ld   e, a
        ld   b, 8
conv_threes_channel:                    ; d = bits of 1 or more, e = bits of 2, b = channels left
        xor  a
        srl  d
        adc  a, 0
        srl  e
        adc  a, 0
        ld   (hl), a
        inc  l
        djnz conv_threes_channel
        pop  de
        dec  c
        jr   nz, conv_threes_group
        ld   (hl), c                    ; two more channels, which are 0
        inc  l
        ld   (hl), c
        pop  hl
        push de
        ld   de, conv_value
conv_threes_three:                      ; de = values of three channels, hl = where their sums go
        ld   a, (de)
        inc  e
        ld   b, a                       ; b = from a sum to that with the first weight one more
        ld   a, (de)
        inc  e
        add  a, b
        ld   ixl, a                     ; ixl = first and second value
        sub  b
        sub  b
        sub  b
        ld   c, a                       ; c = the second weight one more, the first two less
        ld   a, (de)
        inc  e
        push de
        add  a, ixl
        ld   ixh, a                     ; ixh = all three
        sub  ixl
        sub  ixl
        sub  ixl
        ld   d, a                       ; d = the third weight one more, the others two less
        xor  a
        sub  ixh                        ; a = the sum of weights of -1
        include "conv_threes_fill.asm"
        pop  de
        ld   a, e
        cp   0
conv_threes_limit: equ $ - 1
        jp   nz, conv_threes_three
        inc  h
        ld   l, 0
        pop  de
        pop  af
        dec  a
        jp   nz, conv_threes_place
        include "conv_threes_units.asm"

conv_threes_map:                        ; the descriptor
        defs 2
conv_threes_output:
        defs 2
conv_threes_weight:
        defs 2
conv_threes_run:
        defs 2
conv_threes_unpack:
        defs 2
conv_threes_groups:
        defs 1
conv_threes_value_nbytes:
        defs 1
conv_threes_places:
        defs 1
conv_threes_eights:
        defs 1
conv_threes_cells:
        defs 1
conv_threes_stride:
        defs 1
