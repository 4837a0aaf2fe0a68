; conv_expand_ternary - expand a unit's weights of -1, 0 or 1, four a byte, into the tables that conv_expand looks up
;
; A nibble of the map has the weights w1 w2 w4 w8, one a bit. Its 15 sums, each from the one before, need four steps alone:
; w1, w2 - w1, w4 - w2 - w1 and w8 - w4 - w2 - w1. Each of the 81 choices of four weights has a record of these steps in two
; pages: the byte that stands for it is the record's low address byte, its lowest bit set for the second page.
;
; In         hl = packed weights of the unit; conv_expand_nibbles = nibbles of three places
; Out        conv_page: 16 sums for each nibble, three places from the start of a page on; hl = after the weights
; Clobbers   af bc de ix hl'
; T-states   285 + 1008 conv_expand_nibbles, 18 less if three places fill pages
; Bytes      100
; Needs      conv_expand_ternary_page
conv_expand_ternary:
        push hl
        exx
        pop  hl
        exx
        ld   de, conv_page + 1
        ld   ixh, 3
conv_expand_ternary_row:                ; de = sum of 1 of the first nibble of three places, ixh = rows of the window left
        ld   a, (conv_expand_nibbles)
        ld   ixl, a
conv_expand_ternary_nibble:             ; de = sum of 1, ixl = nibbles left
        exx
        ld   a, (hl)
        inc  hl
        exx
        ld   l, a
        and  1
        add  a, conv_expand_ternary_page / 256
        ld   h, a                       ; hl = record
        ld   b, (hl)                    ; b = w1
        inc  l
        ld   c, (hl)                    ; c = w2 - w1
        inc  l
        ld   a, (hl)
        inc  l
        ld   l, (hl)                    ; l = w8 - w4 - w2 - w1
        ld   h, a                       ; h = w4 - w2 - w1
        include "conv_expand_fill.asm"
        dec  ixl
        jp   nz, conv_expand_ternary_nibble
        ld   a, e
        dec  a
        jr   z, conv_expand_ternary_next   ; three places fill pages
        inc  d
        ld   e, 1
conv_expand_ternary_next:
        dec  ixh
        jr   nz, conv_expand_ternary_row
        exx
        push hl
        exx
        pop  hl
        ret
