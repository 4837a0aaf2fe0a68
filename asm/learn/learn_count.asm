; learn_count - count what each patch of a picture shows, its border included
;
; In         learn_rows, not moved
; Out        learn_counts = 12 rows of 10 patches of 16 counts, u8: one more for each patch's pattern
; Clobbers   af bc de hl ix
; T-states   12029
; Bytes      78
; Needs      learn_counts at a multiple of 16
learn_count:
        ld   ix, learn_rows
        ld   hl, learn_counts
learn_count_row:                        ; ix = the upper of two rows of pixels, hl = counts of their first patch
        ld   d, (ix + 0)
        ld   e, (ix + 2)
        xor  a                          ; the border
        ld   b, 4
        call learn_count_two
        ld   d, (ix + 1)
        ld   e, (ix + 3)
        ld   b, 1
        call learn_count_two
        inc  ix
        inc  ix
        ld   a, ixl
        cp   learn_rows + 24 - (learn_rows + 24) / 256 * 256
        jr   nz, learn_count_row
        ret

learn_count_two:                        ; de = columns to come, a = pattern before, b = pairs of patches left, hl = their counts
        sla  d
        rla
        sla  e
        rla
        and  15
        ld   c, a
        or   l
        ld   l, a
        inc  (hl)
        or   15
        ld   l, a
        inc  hl
        ld   a, c
        sla  d
        rla
        sla  e
        rla
        and  15
        ld   c, a
        or   l
        ld   l, a
        inc  (hl)
        or   15
        ld   l, a
        inc  hl
        ld   a, c
        djnz learn_count_two
        ret

; learn_clear - set all counts to 0
;
; Out        learn_counts
; Clobbers   f bc de hl
; T-states   40344
; Bytes      14
learn_clear:
        ld   hl, learn_counts
        ld   de, learn_counts + 1
        ld   bc, 12 * 10 * 16 - 1
        ld   (hl), 0
        ldir
        ret
