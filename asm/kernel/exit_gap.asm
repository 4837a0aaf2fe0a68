; exit_gap - whether the greatest of several unsigned words leads the others by a gap; the first of equals is the greatest
;
; In         scores = words, u16, low byte first;  b = words after the first, 1 or more;  hl = gap, u16
; Out        carry set: the lead is the gap or more, a = index of the greatest, also in digit
;            carry clear: it is not, a = 255
; Clobbers   af bc de hl ix
; T-states   exact in the scores: the Cost of the kernel exit_gap counts how far each later score gets
; Bytes      77
; Needs      scores within a page
exit_gap:
        push hl
        ld   hl, scores
        ld   a, (hl)
        ld   ixl, a
        inc  l
        ld   a, (hl)
        ld   ixh, a
        ld   c, l
        ld   de, 0
exit_gap_next:                          ; ix = greatest so far, de = greatest of the others, c = where the greatest's high byte
        inc  l                          ; lies, b = scores left, hl = the last byte read
        ld   a, e
        sub  (hl)
        inc  l
        ld   a, d
        sbc  a, (hl)
        jr   c, exit_gap_more
exit_gap_less:
        djnz exit_gap_next
        ld   a, ixl
        sub  e
        ld   l, a
        ld   a, ixh
        sbc  a, d
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
exit_gap_more:
        ld   d, (hl)
        dec  l
        ld   e, (hl)
        inc  l
        ld   a, ixl
        sub  e
        ld   a, ixh
        sbc  a, d
        jr   nc, exit_gap_less
        ld   a, e
        ld   e, ixl
        ld   ixl, a
        ld   a, d
        ld   d, ixh
        ld   ixh, a
        ld   c, l
        jp   exit_gap_less
