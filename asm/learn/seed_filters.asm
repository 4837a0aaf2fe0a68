; seed_filters - all filters look at the picture: which units are active, how much, and which window made them so
;
; A window's sum is three look-ups: 128 more than it is in 1/16, so that the greatest of four is found without signs. Of equals the
; last wins.
;
; In         seed_filter_page, and the operands of this code
; Out        seed_list_page
; Clobbers   af bc de hl ix
; T-states   28168..30328 + 124 * active units
; Bytes      634
; Needs      seed_units.asm
seed_filters:
        ld   de, seed_list_page
        ld   ixl, 0
        ld   h, seed_filter_page / 256
seed_filters_next:                      ; h = page of a filter, ixl = its first unit, de = end of the list
        include "seed_units.asm"
        ld   a, ixl
        add  a, 9
        ld   ixl, a
        inc  h
        ld   a, h
        cp   seed_filter_page / 256 + 12
        jp   nz, seed_filters_next
        ld   a, 255
        ld   (de), a
        ret

seed_active:                            ; a = level - 1, c = window, h = page of the filter, ixl + l = unit, de = end of the list
        ld   b, a
        ld   a, ixl
        add  a, l
        ld   (de), a
        inc  de
        ld   a, b
        cp   15
        jr   c, seed_active_level
        ld   a, 14
seed_active_level:
        inc  a
        add  a, a
        ld   (de), a
        inc  de
        ld   a, c
        ld   (de), a
        inc  de
        ld   a, h
        ld   (de), a
        inc  de
        ret
