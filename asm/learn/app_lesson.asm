; The lesson: count, then correct, as learn_count_all and learn_pass do, with a look at the keys and a word on the screen between.

LOOK_TENS:      equ 15          ; pictures are counted 16 between two shown

; lesson - learn before your eyes, until a key leads elsewhere
;
; What was begun goes on: without anything learned it counts, then come the passes, each whole one a stage. A pass that was
; broken off begins again, with the weights and the shifts as they are.
; Bytes      99
lesson:
        call draw_board
        ld   a, (SYS_FRAMES)
        ld   (lesson_frame), a
        ld   a, (state_stage)
        or   a
        jr   nz, lesson_go_on
        call draw_counts
lesson_begin:
        call lesson_count
lesson_counted:
        ld   a, 1
        ld   (state_stage), a
lesson_go_on:
        ld   a, (state_stage)
        dec  a
        call point_of_pass
        ld   (state_points), a
        call draw_curve
        call show_clock
        call show_share
lesson_passes:
        ld   a, (state_stage)
        cp   PASSES + 1
        jr   nc, lesson_over
        call lesson_pass
lesson_corrected:
        ld   hl, state_stage
        inc  (hl)
        ld   hl, (lesson_right)
        ld   (state_right), hl
        call show_share
        jr   lesson_passes

lesson_over:
        ld   hl, text_over
        call print_text
        call show_share
lesson_over_wait:
        call next_key
        call lesson_key
        jr   lesson_over_wait

lesson_key:                     ; a = key pressed, or 0
        cp   KEY_NEW
        ret  nz
        xor  a                  ; all anew
        ld   (state_stage), a
        ld   a, KEY_LEARN
        jp   app_enter

; lesson_count - learn from all pictures by counting
; Out        the weights, as learn_count_all leaves them
; Clobbers   af bc de hl ix
; Bytes      172
lesson_count:
        ld   hl, 0
        ld   (state_frames), hl
        ld   (lesson_seen), hl
        ld   (state_right), hl
        inc  hl
        ld   (learn_random), hl
        xor  a
        ld   (state_points), a
        ld   hl, learn_pictures
        ld   c, a
lesson_count_digit:             ; hl = first picture of digit c
        push bc
        push hl
        ld   hl, text_counting
        call print_text
        ld   a, c
        call print_digit
        ld   a, c
        call name_picture
        ld   b, 0
        ld   hl, digit_colours
        add  hl, bc
        ld   a, (hl)
        ld   (lesson_colour), a
        call learn_clear
        pop  hl
        ld   de, MARKS
        ld   b, LEARN_OF_EACH
lesson_count_picture:           ; hl = picture, de = its lamp, b = pictures left
        push bc
        push de
        push hl
        ld   a, MARK_WORKING
        ld   (de), a
        ld   c, 1
        call learn_unpack
        call learn_count
lesson_counted_one:
        ld   hl, (lesson_seen)
        inc  hl
        ld   (lesson_seen), hl
        call lesson_glance
        pop  hl
        pop  de
        pop  bc
        ld   a, (lesson_colour)
        ld   (de), a
        inc  de
        ld   a, b
        and  LOOK_TENS
        call z, lesson_count_look
        push de
        ld   de, 130
        add  hl, de
        pop  de
        djnz lesson_count_picture
        pop  bc                 ; c = digit
        push bc
        ld   a, c
        call learn_weigh
        pop  bc
        inc  c
        ld   a, c
        add  a, a
        add  a, a
        ld   b, a
        add  a, a
        add  a, b
        add  a, c               ; a = 13 * digit
        ld   e, a
        ld   d, 0
        ld   hl, learn_pictures
        add  hl, de
        ld   a, c
        cp   10
        jr   nz, lesson_count_digit
        ret

lesson_count_look:              ; keeps bc, de and hl
        push bc
        push de
        push hl
        call lesson_look
        ld   a, BOARD_LINE
        ld   c, BOARD_COLUMN
        call draw_small
        pop  hl
        pop  de
        pop  bc
        ret

lesson_glance:                  ; obey a key if any is down; changes af bc de hl
        xor  a                  ; all half rows
        in   a, (PORT_ULA)
        cpl
        and  31
        ret  z
        call look_at_keys
        jp   lesson_key

lesson_look:                    ; changes af bc de hl ix
        call show_progress
        call look_at_keys
        jp   lesson_key

; lesson_pass - look at all pictures once, and correct the weights
; Out        the weights and learn_random, as learn_pass leaves them;  lesson_right = pictures read right;  the curve
; Clobbers   af bc de hl ix
; Bytes      241
lesson_pass:
        ld   hl, text_pass
        call print_text
        ld   a, (state_stage)
        ld   l, a
        ld   h, 0
        ld   de, AT_PASS
        call print_two
        call sleep_marks
        ld   hl, 0
        ld   (lesson_seen), hl
        ld   (lesson_right), hl
        ld   a, h
        ld   (lesson_hundred), a
        ld   a, 10
        ld   (lesson_tens), a
        ld   hl, learn_pictures
        ld   de, MARKS
        ld   b, LEARN_OF_EACH
lesson_ten:                     ; hl = ten pictures, de = their lamp, b = tens left
        push bc
        push de
        ld   a, MARK_WORKING
        ld   (de), a
        xor  a
        ld   (lesson_wrong), a
        ld   c, a
lesson_picture:                 ; hl = picture of digit c
        include "learn_look.asm"
lesson_corrected_one:                   ; carry = the weights had to change
        pop  hl
        pop  bc
        push bc
        push hl
        jr   nc, lesson_right_one ; well ahead
        push bc
        ld   c, 10
        call learn_rival
        pop  bc
        cp   c
        jr   z, lesson_right_one
        ld   hl, lesson_wrong
        inc  (hl)
lesson_right_one:
        ld   a, (lesson_shown)
        cp   c
        call z, lesson_show
        call lesson_glance
        pop  hl
        ld   de, 13
        add  hl, de
        pop  bc
        inc  c
        ld   a, c
        cp   10
        jr   nz, lesson_picture
        pop  de
        push hl
        call lesson_judge
        push de
        call lesson_look
        pop  de
        pop  hl
        pop  bc
        djnz lesson_ten
        ret

lesson_show:                    ; a = digit of the picture unpacked; changes af bc de hl ix
        call name_picture
        ld   a, BOARD_LINE
        ld   c, BOARD_COLUMN
        jp   draw_small

lesson_judge:                   ; de = lamp of ten pictures; out: de = the next; changes af bc hl ix
        ld   a, (lesson_wrong)
        ld   c, a               ; c = read wrong of ten
        ld   b, BRIGHT + GREEN
        or   a
        jr   z, lesson_judge_lamp
        ld   b, BRIGHT + YELLOW
        dec  a
        jr   z, lesson_judge_lamp
        ld   b, BRIGHT + RED
lesson_judge_lamp:
        ld   a, b
        ld   (de), a
        inc  de
        push de
        ld   hl, (lesson_seen)
        ld   de, 10
        add  hl, de
        ld   (lesson_seen), hl
        ld   hl, (lesson_right)
        add  hl, de
        ld   b, d
        or   a
        sbc  hl, bc
        ld   (lesson_right), hl
        ld   hl, lesson_shown
        inc  (hl)
        ld   a, (hl)
        cp   e
        jr   c, lesson_judge_hundred
        ld   (hl), 0
lesson_judge_hundred:
        ld   hl, lesson_hundred
        ld   a, (hl)
        add  a, c
        ld   (hl), a
        ld   b, a               ; b = read wrong of the hundred
        inc  hl                 ; lesson_tens
        dec  (hl)
        jr   nz, lesson_judge_end
        ld   (hl), e
        dec  hl
        ld   (hl), d
        ld   hl, state_points
        ld   e, (hl)
        inc  (hl)
        ld   c, e               ; c = number of the point
        ld   hl, state_curve
        add  hl, de
        ld   (hl), b
        ld   a, b
        call plot_hundred
lesson_judge_end:
        pop  de
        ret

; point_of_pass - the number of the first point of a pass in the curve
; In         a = passes before it
; Out        a = number
; Clobbers   f b c
; Bytes      32                (with name_picture and the colours of the digits)
point_of_pass:
        ld   b, a
        inc  b
        ld   c, HUNDREDS
        xor  a
        jr   point_of_pass_next
point_of_pass_add:
        add  a, c
point_of_pass_next:
        djnz point_of_pass_add
        ret

name_picture:                   ; a = digit; keeps bc
        push af
        ld   hl, text_name
        call print_text
        pop  af
        jp   print_digit

digit_colours:
        defb BRIGHT + RED, BRIGHT + YELLOW, BRIGHT + GREEN, BRIGHT + CYAN, BRIGHT + BLUE
        defb RED, YELLOW, GREEN, CYAN, BLUE
app_lesson_end:
