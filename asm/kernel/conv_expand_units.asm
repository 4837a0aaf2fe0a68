; conv_expand_units - the units of a convolution, eight by eight, when its lines are compiled: conv_expand goes on here
;
; In         the descriptor at conv_expand_map
; Out        the output map
; Clobbers   af bc de hl ix
; T-states   exact in the map: a part of the Cost of the kernels conv_expand, conv_places and conv_threes
; Bytes      65; for planes 73
; Needs      conv_page, conv_cell; hl' on the stack
; Writes     the descriptor
conv_expand_eight:                      ; the next eight units
        ld   b, 8
conv_expand_unit:                       ; b = units left of the eight
        push bc
        ld   hl, (conv_expand_weight)
        ld   a, (hl)
        inc  hl
        push af                         ; a = bias
        call 0                          ; to what expands the weights from hl on
conv_expand_unpack_entry: equ $ - 2
;planes ld   e, (hl)                    ; e = what a sum that reaches the second threshold is not below
;planes inc  hl
        ld   (conv_expand_weight), hl
        pop  af
        ld   c, a
        ld   d, conv_page / 256
        call 0                          ; to the layer's own code
conv_expand_run_entry: equ $ - 2
        pop  bc
        djnz conv_expand_unit
        ld   hl, (conv_expand_output)
        push hl
        ld   de, conv_cell
        ld   a, (conv_expand_stride)
        ld   c, a
        ld   a, (conv_expand_cells)
        ld   ixl, a
conv_expand_copy:                       ; de = inverted bits of a cell's eight units, hl = where they go, bc = from cell to cell
        ld   a, (de)
        cpl
        ld   (hl), a
        inc  de
;planes inc  hl
;planes ld   a, (de)
;planes cpl
;planes ld   (hl), a
;planes inc  de
        add  hl, bc
        dec  ixl
        jr   nz, conv_expand_copy
        pop  hl
        inc  hl
;planes inc  hl
        ld   (conv_expand_output), hl
        ld   hl, conv_expand_eights
        dec  (hl)
        jr   nz, conv_expand_eight
        exx
        pop  hl
        exx
        ret
