; seed_teach - every digit whose score is far from what it should be raises or lowers itself, once, or twice if it is very far
;
; In         c = digit of the picture, 0..9;  seed_score, seed_list_page
; Out        velocities of the digits;  seed_news_page
; Clobbers   af bc de hl ix
; T-states   2516..4316, and what seed_raise or seed_lower takes for each lesson
; Bytes      94
; Needs      seed_errors_digit and seed_errors_other: the least score that is not very far too low, then how much more is not
;            too low, then how much more is too high;  as much more as the second is very far too high
seed_teach:
        ld   a, c
        add  a, seed_dense_page / 256
        ld   c, a
        ld   b, seed_dense_page / 256
        ld   hl, seed_score
seed_teach_digit:                       ; b = weight page of a digit, hl = its score, c = weight page of the picture's digit
        ld   e, (hl)
        inc  l
        ld   d, (hl)
        inc  l
        push hl
        push bc
        ld   ix, seed_errors_other
        ld   a, b
        cp   c
        jr   nz, seed_teach_grade
        ld   ix, seed_errors_digit
seed_teach_grade:
        ld   c, b                       ; c = weight page
        add  a, 11
        ld   b, a                       ; b = velocity page
        ex   de, hl                     ; hl = score
        ld   e, (ix + 0)
        ld   d, (ix + 1)
        or   a
        sbc  hl, de
        jr   c, seed_teach_raise_twice
        ld   e, (ix + 2)
        ld   d, (ix + 3)
        sbc  hl, de
        jr   c, seed_teach_raise
        ld   e, (ix + 4)
        ld   d, (ix + 5)
        sbc  hl, de
        jr   c, seed_teach_next
        ld   e, (ix + 2)
        ld   d, (ix + 3)
        sbc  hl, de
        call nc, seed_lower
        call seed_lower
        jr   seed_teach_next
seed_teach_raise_twice:
        call seed_raise
seed_teach_raise:
        call seed_raise
seed_teach_next:
        pop  bc
        pop  hl
        inc  b
        ld   a, b
        cp   seed_dense_page / 256 + 10
        jr   nz, seed_teach_digit
        ret

; seed_raise - a digit's velocities gain twice the levels of the active units, and these are told to grow as their weights are
;
; In         b = velocity page, c = weight page;  seed_list_page
; Out        velocities;  seed_news_page, modulo 256
; Clobbers   af de hl
; T-states   36 + 149..155 * active units
; Bytes      32
seed_raise:
        ld   hl, seed_list_page
seed_raise_unit:                        ; hl = active unit
        ld   e, (hl)
        ld   a, e
        inc  a
        ret  z
        inc  hl
        ld   a, (hl)
        inc  hl
        inc  hl
        inc  hl
        ld   d, b
        set  7, e
        ex   de, hl                     ; hl = velocity, its lower byte
        add  a, (hl)
        ld   (hl), a
        res  7, l
        jr   nc, seed_raise_news
        inc  (hl)
seed_raise_news:
        ld   h, c
        ld   a, (hl)                    ; a = weight, its upper byte
        ld   h, seed_news_page / 256
        add  a, (hl)
        ld   (hl), a
        ex   de, hl
        jr   seed_raise_unit

; seed_lower - a digit's velocities lose twice the levels of the active units, and these are told to shrink as their weights are
;
; In         b = velocity page, c = weight page;  seed_list_page
; Out        velocities;  seed_news_page, modulo 256
; Clobbers   af de hl
; T-states   36 + 165..171 * active units
; Bytes      36
seed_lower:
        ld   hl, seed_list_page
seed_lower_unit:                        ; hl = active unit
        ld   e, (hl)
        ld   a, e
        inc  a
        ret  z
        inc  hl
        ld   a, (hl)
        neg                             ; never 0, so a carry below means no borrow
        inc  hl
        inc  hl
        inc  hl
        ld   d, b
        set  7, e
        ex   de, hl                     ; hl = velocity, its lower byte
        add  a, (hl)
        ld   (hl), a
        res  7, l
        jr   c, seed_lower_news
        dec  (hl)
seed_lower_news:
        ld   h, c
        ld   a, (hl)                    ; a = weight, its upper byte
        neg
        ld   h, seed_news_page / 256
        add  a, (hl)
        ld   (hl), a
        ex   de, hl
        jr   seed_lower_unit

; seed_news - what active units have been told goes to their filters, under the patterns of the winning window
;
; In         seed_list_page, seed_news_page, seed_pattern_page
; Out        lessons of the filters;  seed_news_page, all 0
; Clobbers   af bc de hl
; T-states   36 + 88 * active units + 274 * active units that have news
; Bytes      74
seed_news:
        ld   hl, seed_list_page
seed_news_unit:                         ; hl = active unit
        ld   e, (hl)
        ld   a, e
        inc  a
        ret  z
        inc  hl
        inc  hl
        ld   c, (hl)                    ; c = window
        inc  hl
        ld   b, (hl)                    ; b = page of its filter
        inc  hl
        ld   d, seed_news_page / 256
        ld   a, (de)
        or   a
        jr   z, seed_news_unit
        push hl
        ld   l, a
        xor  a
        ld   (de), a
        ld   a, l
        rlca
        sbc  a, a
        ld   h, a                       ; hl = news, s16
        ld   d, seed_pattern_page / 256
        ld   e, c
        ld   a, (de)
        add  a, 64
        ld   c, a                       ; bc = lesson of row 0's pattern
        ld   a, (bc)
        add  a, l
        ld   (bc), a
        inc  c
        ld   a, (bc)
        adc  a, h
        ld   (bc), a
        ld   a, e
        add  a, 8
        ld   e, a
        ld   a, (de)
        add  a, 80
        ld   c, a                       ; bc = lesson of row 1's pattern
        ld   a, (bc)
        add  a, l
        ld   (bc), a
        inc  c
        ld   a, (bc)
        adc  a, h
        ld   (bc), a
        ld   a, e
        add  a, 8
        ld   e, a
        ld   a, (de)
        add  a, 96
        ld   c, a                       ; bc = lesson of row 2's pattern
        ld   a, (bc)
        add  a, l
        ld   (bc), a
        inc  c
        ld   a, (bc)
        adc  a, h
        ld   (bc), a
        pop  hl
        jr   seed_news_unit
