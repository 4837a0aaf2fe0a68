; conv_expand_4bit - expand a unit's weights of four bits, two a byte, into the tables that conv_expand looks up
;
; A nibble of the map has the weights w1 w2 w4 w8, one a bit. Its 15 sums, each from the one before, need four steps alone:
; w1, w2 - w1, w4 - w2 - w1 and w8 - w4 - w2 - w1. conv_expand_4bit_page has the lower weight of each byte, the next page the
; upper weight less the lower one.
;
; In         hl = packed weights of the unit; conv_expand_nibbles = nibbles of three places
; Out        conv_page: 16 sums for each nibble, three places from the start of a page on; hl = after the weights
; Clobbers   af bc de ix hl'
; T-states   285 + 1134 conv_expand_nibbles, 18 less if three places fill pages
; Bytes      109
; Needs      conv_expand_4bit_page
conv_expand_4bit:
        push hl
        exx
        pop  hl
        exx
        ld   de, conv_page + 1
        ld   ixh, 3
conv_expand_4bit_row:                   ; de = sum of 1 of the first nibble of three places, ixh = rows of the window left
        ld   a, (conv_expand_nibbles)
        ld   ixl, a
conv_expand_4bit_nibble:                ; de = sum of 1, ixl = nibbles left
        exx
        ld   a, (hl)
        inc  hl
        exx
        ld   l, a
        ld   h, conv_expand_4bit_page / 256
        ld   b, (hl)                    ; b = w1
        inc  h
        ld   c, (hl)                    ; c = w2 - w1
        exx
        ld   a, (hl)
        inc  hl
        exx
        ld   l, a
        ld   a, (hl)
        dec  h
        ld   h, (hl)
        sub  c
        sub  b
        sub  b
        ld   l, a                       ; l = w8 - w4 - w2 - w1
        ld   a, h
        sub  c
        sub  b
        sub  b
        ld   h, a                       ; h = w4 - w2 - w1
        include "conv_expand_fill.asm"
        dec  ixl
        jp   nz, conv_expand_4bit_nibble
        ld   a, e
        dec  a
        jr   z, conv_expand_4bit_next   ; three places fill pages
        inc  d
        ld   e, 1
conv_expand_4bit_next:
        dec  ixh
        jr   nz, conv_expand_4bit_row
        exx
        push hl
        exx
        pop  hl
        ret
