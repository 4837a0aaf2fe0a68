; seed_begin - random weights, each bias SEED_BIAS, no velocities, and the filters' tables
;
; In         hl = seed, never 0
; Out        0x8000 to 0xA3FF;  seed_random
; Clobbers   af bc de hl ix
; T-states   526715
; Bytes      86
seed_begin:
        ld   (seed_random), hl
        ld   hl, seed_filters_page
        ld   de, seed_filters_page + 1
        ld   bc, seed_news_page + 255 - seed_filters_page
        ld   (hl), 0
        ldir
        ld   de, seed_filters_page
        ld   b, 12
seed_begin_filter:                      ; b = filters left, de = first weight
        ld   c, 10
seed_begin_tap:
        call seed_begin_random
        add  hl, hl
        add  hl, hl
        add  hl, hl
        call seed_begin_put
        dec  c
        jr   nz, seed_begin_tap
        dec  e
        ld   hl, SEED_BIAS
        call seed_begin_put
        djnz seed_begin_filter
        ld   d, seed_dense_page / 256
seed_begin_digit:                       ; d = page of a digit's weights
        ld   e, 0
        ld   b, 108
seed_begin_weight:
        call seed_begin_random
        add  hl, hl
        call seed_begin_put
        djnz seed_begin_weight
        inc  d
        ld   a, d
        cp   seed_dense_page / 256 + 10
        jr   nz, seed_begin_digit
        jp   seed_tables

seed_begin_random:                      ; out: hl = random, -128 to 127
        call seed_next_random
        ld   a, l
        rlca
        sbc  a, a
        ld   h, a
        ret

seed_begin_put:                         ; de = weight, its upper byte, hl = value; out: de = the next weight
        ld   a, h
        ld   (de), a
        set  7, e
        ld   a, l
        ld   (de), a
        res  7, e
        inc  e
        ret

; seed_next_random - the next of 65,535 numbers in a random order
;
; In         seed_random, never 0
; Out        hl = seed_random = the next number
; Clobbers   af hl
; T-states   98
; Bytes      21
seed_next_random:
        ld   hl, (seed_random)
        include "xorshift_u16.asm"
        ld   (seed_random), hl
        ret
