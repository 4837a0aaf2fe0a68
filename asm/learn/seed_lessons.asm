; seed_lessons - what the filters were taught becomes velocities: a tap's is the sum of the patterns in which its pixel is set
;
; In         lessons of the filters
; Out        velocities of the filters;  lessons, all 0
; Clobbers   af bc de hl
; T-states   57814
; Bytes      150
seed_lessons:
        ld   h, seed_filter_page / 256
        ld   de, seed_filters_velocity_page
seed_lessons_filter:                    ; h = page of a filter, de = velocity of its first tap
        ld   l, 64
        ld   bc, 0
        call seed_lesson_four
        call seed_lesson_four
        push bc                         ; the bias's lesson: all patterns of a row
        ld   l, 64
        call seed_lesson_row
        call seed_lesson_row
        call seed_lesson_row
        pop  bc
        call seed_lesson_gain
        inc  h
        ld   a, h
        cp   seed_filter_page / 256 + 12
        jr   nz, seed_lessons_filter
        ret

seed_lesson_row:                        ; h:l = lessons of a row, de = velocity of its first tap; both go on to the next row
        ld   a, l
        add  a, 8
        ld   l, a
        ld   bc, 0
        call seed_lesson_four           ; patterns 4 to 7: the left pixel
        call seed_lesson_gain
        ld   a, l
        sub  12
        ld   l, a
        ld   bc, 0
        call seed_lesson_two            ; patterns 2, 3, 6, 7: the middle pixel
        ld   a, l
        add  a, 4
        ld   l, a
        call seed_lesson_two
        call seed_lesson_gain
        ld   a, l
        sub  14
        ld   l, a
        ld   bc, 0
        call seed_lesson_one            ; patterns 1, 3, 5, 7: the right pixel
        inc  l
        inc  l
        call seed_lesson_one
        inc  l
        inc  l
        call seed_lesson_one
        inc  l
        inc  l
        call seed_lesson_one
        call seed_lesson_gain
        ld   a, l
        sub  16
        ld   l, a
        xor  a
        ld   b, 8
seed_lesson_clear:
        ld   (hl), a
        inc  l
        ld   (hl), a
        inc  l
        djnz seed_lesson_clear
        ret

seed_lesson_four:                       ; bc = sum, hl = lesson, u16; out: four more of them in the sum
        call seed_lesson_two
seed_lesson_two:
        ld   a, c
        add  a, (hl)
        ld   c, a
        inc  l
        ld   a, b
        adc  a, (hl)
        ld   b, a
        inc  l
seed_lesson_one:
        ld   a, c
        add  a, (hl)
        ld   c, a
        inc  l
        ld   a, b
        adc  a, (hl)
        ld   b, a
        inc  l
        ret

seed_lesson_gain:                       ; de = velocity, its upper byte, bc = lesson; out: half of that added, de = the next velocity
        sra  b
        rr   c
        set  7, e
        ld   a, (de)
        add  a, c
        ld   (de), a
        res  7, e
        ld   a, (de)
        adc  a, b
        ld   (de), a
        inc  e
        ret
