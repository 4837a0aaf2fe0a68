; arg_max - the index of the greatest of several unsigned words; the first of equals wins
;
; In         scores = ARG_MAX_UNITS words, u16, low byte first
; Out        a = index of the greatest, also in digit
; Clobbers   af bc de hl
; T-states   exact in the scores: the Cost of the kernel arg_max counts how often a later score is greater
; Bytes      32
arg_max:
        ld   hl, scores
        ld   e, (hl)
        inc  hl
        ld   d, (hl)
        ld   bc, ARG_MAX_UNITS * 256 - 256
arg_max_next:                           ; de = greatest so far, c = its index, b = scores left, hl = the last byte read
        inc  hl
        ld   a, e
        sub  (hl)
        inc  hl
        ld   a, d
        sbc  a, (hl)
        jr   nc, arg_max_keep
        ld   d, (hl)
        dec  hl
        ld   e, (hl)
        inc  hl
        ld   a, ARG_MAX_UNITS
        sub  b
        ld   c, a
arg_max_keep:
        djnz arg_max_next
        ld   a, c
        ld   (digit), a
        ret
