; seed_tables - the filters' weights become the sums of their rows' patterns
;
; In         weights of the filters
; Out        seed_filter_page[16 * row + 2 * pattern] of each filter = the sum, in 1/16 and rounded, u8, modulo 256; row 0 holds the
;            bias and 128
; Clobbers   af bc de hl ix
; T-states   27389
; Bytes      120
seed_tables:
        ld   hl, seed_filters_page
        ld   ix, seed_filter_page
seed_tables_filter:                     ; hl = first tap of a filter, ix = its page
        ld   a, l
        add  a, 9
        ld   l, a
        call seed_table_tap
        push hl
        ld   hl, 0x8080                 ; 128, and a half to round
        add  hl, bc
        ld   (seed_table_base), hl
        pop  hl
        ld   a, l
        sub  10
        ld   l, a
        call seed_table_row
        push hl
        ld   hl, 0x0080
        ld   (seed_table_base), hl
        pop  hl
        call seed_table_row
        call seed_table_row
        inc  l
        ld   ixl, 0
        inc  ixh
        ld   a, ixh
        cp   seed_filter_page / 256 + 12
        jr   nz, seed_tables_filter
        ret

seed_table_row:                         ; hl = first tap of a row, ix = its table; both go on to the next row
        call seed_table_tap
        push bc
        call seed_table_tap
        push bc
        call seed_table_tap
        ld   d, b
        ld   e, c                       ; de = right tap
        pop  bc                         ; bc = middle tap
        ex   (sp), hl                   ; hl = left tap
        push de
        ld   de, 0                      ; pattern 0's sum
seed_table_base: equ $ - 2
        add  hl, de
        ex   (sp), hl
        ex   de, hl
        call seed_table_half
        pop  hl
        call seed_table_half
        pop  hl
        ret

seed_table_half:                        ; hl = sum of pattern 0 or 4, de = right tap, bc = middle tap, ix = table, which goes on
        ld   (ix + 0), h
        add  hl, de
        ld   (ix + 2), h
        add  hl, bc
        ld   (ix + 6), h
        or   a
        sbc  hl, de
        ld   (ix + 4), h
        ld   a, ixl
        add  a, 8
        ld   ixl, a
        ret

seed_table_tap:                         ; hl = weight, its upper byte; out: bc = weight, hl = the next
        ld   b, (hl)
        set  7, l
        ld   c, (hl)
        res  7, l
        inc  l
        ret
