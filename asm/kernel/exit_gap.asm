; exit_gap - whether the greatest of several unsigned words leads the others by a gap; the first of equals is the greatest
;
; In         scores = words, u16, low byte first;  b = words after the first, 1 or more;  hl = gap, u16
; Out        carry set: the lead is the gap or more, a = index of the greatest, also in digit
;            carry clear: it is not, a = 255
; Clobbers   af bc de hl ix
; T-states   exact in the scores: the Cost of the kernel exit_gap counts how far each later score gets
; Bytes      84
; Needs      scores within a page
exit_gap:
        push hl
        ld   hl, scores
        ld   e, (hl)
        inc  l
        ld   d, (hl)
        ld   c, l
        ld   ix, 0
exit_gap_next:                          ; de = greatest so far, ix = greatest of the others, c = where the greatest's high byte
        inc  l                          ; lies, b = scores left, hl = the last byte read
        inc  l
        ld   a, (hl)
        cp   ixh
        jr   c, exit_gap_less
        dec  l
        ld   a, ixl
        sub  (hl)
        inc  l
        ld   a, ixh
        sbc  a, (hl)
        jr   nc, exit_gap_less
        dec  l
        ld   a, e
        sub  (hl)
        inc  l
        ld   a, d
        sbc  a, (hl)
        jr   c, exit_gap_greatest
        ld   a, (hl)
        ld   ixh, a
        dec  l
        ld   a, (hl)
        ld   ixl, a
        inc  l
        jr   exit_gap_less
exit_gap_greatest:
        ld   ixl, e
        ld   ixh, d
        ld   d, (hl)
        dec  l
        ld   e, (hl)
        inc  l
        ld   c, l
exit_gap_less:
        djnz exit_gap_next
        ld   a, e
        sub  ixl
        ld   l, a
        ld   a, d
        sbc  a, ixh
        ld   h, a                       ; hl = lead; carry is clear
        pop  de
        sbc  hl, de
        jr   c, exit_gap_doubt
        ld   a, c
        sub  scores - scores / 256 * 256
        rra                             ; carry is clear
        ld   (digit), a
        scf
        ret
exit_gap_doubt:
        ld   a, 255
        or   a
        ret
