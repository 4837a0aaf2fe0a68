; seed_look - the ten scores of a picture
;
; In         hl = picture, 8 bytes
; Out        seed_score;  seed_list_page, seed_line, seed_pattern_page
; Clobbers   af bc de hl ix
; T-states   32985..35145 + 824 * active units
; Bytes      12
seed_look:
        call seed_see
        call seed_filters
        call seed_fill
        jp   seed_scores

; seed_read - read the digit in a picture
;
; In         hl = picture, 8 bytes
; Out        a = digit of the greatest score, the first of equals; de = that score
; Clobbers   af bc de hl ix
; T-states   33815..36254 + 824 * active units
; Bytes      8
seed_read:
        call seed_look
        ld   c, 10
        jp   seed_rival

; seed_rival - the greatest of ten scores but one; the first of equals wins
;
; In         c = digit to leave out, or 10;  seed_score
; Out        a = digit of the greatest score, de = that score; 10 and 0 if all are 0
; Clobbers   af b de hl ix
; T-states   796..1075
; Bytes      37
seed_rival:
        ld   hl, seed_score
        ld   de, 0
        ld   ixl, e
        ld   b, 10
seed_rival_next:                        ; de = greatest score so far, ixl = 10 - its digit, b = 10 - digit of the score at hl
        ld   a, 10
        sub  b
        cp   c
        jr   z, seed_rival_left_out
        ld   a, e
        sub  (hl)
        inc  l
        ld   a, d
        sbc  a, (hl)
        jr   nc, seed_rival_keep
        ld   d, (hl)
        dec  l
        ld   e, (hl)
        ld   ixl, b
seed_rival_left_out:
        inc  l
seed_rival_keep:
        inc  l
        djnz seed_rival_next
        ld   a, 10
        sub  ixl
        ret

; seed_learn - look at a picture of a known digit, and learn from it unless it is ahead of all others by SEED_LEAD
;
; In         hl = picture, 8 bytes;  c = digit, 0..9
; Out        seed_score;  velocities of the digits, and what the filters are taught;  seed_taught, one more if it was not
; Clobbers   af bc de hl ix
; T-states   33946..36444 + 824 * active units, and if it teaches what seed_teach and seed_news take
; Bytes      43
seed_learn:
        push bc
        call seed_look
        pop  bc
        call seed_rival
        ld   a, c
        add  a, a
        add  a, seed_score - seed_score / 256 * 256
        ld   l, a
        ld   h, seed_score / 256
        ld   a, (hl)
        inc  l
        ld   h, (hl)
        ld   l, a
        or   a
        sbc  hl, de
        jr   c, seed_learn_teach
        ld   de, SEED_LEAD
        sbc  hl, de
        ret  nc
seed_learn_teach:
        ld   hl, (seed_taught)
        inc  hl
        ld   (seed_taught), hl
        call seed_teach
        jp   seed_news
