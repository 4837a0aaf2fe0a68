; learn_weigh - the counts of one digit become its weights and its bias
;
; A weight is the logarithm of the counts of nine neighbouring patches, less that of the blank pattern, plus 128.
;
; In         a = digit, 0..9;  learn_counts
; Out        the digit's five weight pages, and its bias in learn_digits
; Clobbers   af bc de hl ix
; T-states   650255..775931, about 665,000 for pictures
; Bytes      162
; Needs      learn_weight_page, learn_log_page[n] = 12 * log2(2 * n + 1), u8
; Writes     own code (learn_weigh_end)
learn_weigh:
        ld   e, a
        add  a, a
        add  a, a
        ld   c, a                       ; c = 4 * digit
        add  a, e
        add  a, learn_weight_page / 256
        ld   ixh, a
        ld   ixl, 0
        add  a, 5
        ld   (learn_weigh_end), a
        ld   b, 0
        ld   hl, learn_digits
        add  hl, bc
        ld   (learn_weigh_bias), hl
        ld   (hl), b
        inc  hl
        ld   (hl), b
        ld   hl, learn_counts
learn_weigh_patch:                      ; hl = counts of the first of nine patches, ix = the patch's weights
        call learn_weigh_log
        ld   c, a                       ; c = logarithm of the blank pattern's count
        push hl
        ld   hl, (learn_weigh_bias)
        add  a, (hl)
        ld   (hl), a
        jr   nc, learn_weigh_blank
        inc  hl
        inc  (hl)
learn_weigh_blank:
        pop  hl
        xor  a
learn_weigh_store:                      ; a = weight
        ld   (ix + 0), a
        inc  ix
        inc  hl
        ld   a, ixl
        and  15
        jr   z, learn_weigh_next
        call learn_weigh_log
        sub  c
        jr   c, learn_weigh_less
        add  a, 128
        jr   nc, learn_weigh_store
        ld   a, 255
        jr   learn_weigh_store
learn_weigh_less:
        sub  128
        jr   nc, learn_weigh_store
        xor  a
        jr   learn_weigh_store
learn_weigh_next:
        ld   a, ixl
        and  127
        jr   nz, learn_weigh_patch
        ld   de, 32                     ; two patches of the border
        add  hl, de
        ld   a, ixh
        cp   0                          ; the page after the digit's weights
learn_weigh_end: equ $ - 1
        jr   nz, learn_weigh_patch
        ret

learn_weigh_log:                        ; hl = a pattern's count in the first of nine patches; out: a = logarithm of their sum
        push hl
        ld   b, 0                       ; b:a = sum
        ld   de, 16
        ld   a, (hl)
        call learn_weigh_two
        call learn_weigh_three
        call learn_weigh_three
        ld   h, learn_log_page / 256
        ld   l, a
        ld   a, b
        or   a
        jr   nz, learn_weigh_eighth
        ld   a, (hl)
        pop  hl
        ret
learn_weigh_eighth:                     ; a:l = sum
        srl  a
        rr   l
        srl  a
        rr   l
        srl  a
        rr   l
        ld   a, (hl)
        add  a, 36                      ; three octaves
        pop  hl
        ret

learn_weigh_three:                      ; hl = the last patch of a row: on to the next row, and add its three
        ld   e, 128
        add  hl, de
        ld   e, 16
        add  a, (hl)
        jr   nc, learn_weigh_two
        inc  b
learn_weigh_two:
        add  hl, de
        add  a, (hl)
        jr   nc, learn_weigh_third
        inc  b
learn_weigh_third:
        add  hl, de
        add  a, (hl)
        ret  nc
        inc  b
        ret
learn_weigh_bias:
        defw 0
