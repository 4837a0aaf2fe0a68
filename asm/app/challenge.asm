; The challenge: pictures that the net finds hard. The player names the digit, then the machine does.

KEY_0:          equ 48
SAYS_COLOURS:   equ ATTRIBUTES + 3 * 32 + 16

; challenge - play one round after another, until a key leads elsewhere
; Bytes      216
challenge:
        call draw_stage
        ld   hl, text_challenge
        call print_text
        ld   hl, challenge_turn
        xor  a
        ld   (hl), a
        inc  hl
        ld   (hl), a            ; challenge_yours
        inc  hl
        ld   (hl), a            ; challenge_its
challenge_next:
        ld   a, (challenge_index)
        inc  a
        cp   CHALLENGE_COUNT
        jr   c, challenge_show
        xor  a
challenge_show:                 ; a = index of the picture
        ld   (challenge_index), a
        ld   ix, challenge_pictures
        call unpack_picture
        halt                    ; draw ahead of the beam
        xor  a
        ld   hl, SAYS_COLOURS
        ld   bc, 17 * 256 + 16  ; what was said, the lamps and the bars go dark
        call fill_colour
        ld   a, DIGIT_UNKNOWN
        ld   l, BRIGHT + WHITE
        call draw_digit
        call draw_picture
        ld   hl, text_ask
        call print_text
        call show_challenge
challenge_wait:
        call next_key
        sub  KEY_0
        cp   DIGITS
        jr   nc, challenge_wait
        push af                 ; what the player says
        ld   hl, text_challenge_place
        call read_picture
        push af                 ; what the net says
        call measure_bars
        ld   de, (challenge_index)
        ld   d, 0
        ld   hl, challenge_labels
        add  hl, de
        ld   b, (hl)            ; b = true digit
        pop  hl
        pop  af
        push hl
        ld   c, a
        ld   hl, text_says
        ld   ix, challenge_yours
        call challenge_says
        pop  af
        ld   c, a
        inc  ix                 ; challenge_its
        call challenge_says
        call print_text         ; "it is"
        ld   a, b
        call print_digit
        call judge
        call show_reading
        call show_challenge
        ld   hl, challenge_turn
        inc  (hl)
        ld   a, (hl)
        cp   CHALLENGE_COUNT
        jr   z, challenge_over
        ld   hl, text_go_on
        call print_text
challenge_wait_key:
        call next_key
        or   a
        jr   z, challenge_wait_key
        jp   challenge_next

challenge_over:
        inc  hl
        ld   a, (hl)            ; challenge_yours
        inc  hl
        cp   (hl)               ; challenge_its
        ld   hl, text_draw_game
        jr   z, challenge_verdict
        ld   hl, text_you_win
        jr   nc, challenge_verdict
        ld   hl, text_it_wins
challenge_verdict:
        call print_text
        ld   hl, text_again
        call print_text
challenge_wait_again:
        call next_key
        cp   KEY_CHALLENGE
        jr   nz, challenge_wait_again
        jp   app_enter

challenge_says:                 ; c = digit said, b = true digit, ix = who scores, hl = text; hl = the text after it
        call print_text
        ld   a, c
        cp   b
        ld   a, BRIGHT + RED
        jr   nz, challenge_colour
        inc  (ix+0)
        ld   a, BRIGHT + GREEN
challenge_colour:
        ld   (text_colour), a
        ld   a, c
        jp   print_digit
challenge_end:

; show_challenge - show which picture of the round it is, and the score
; Clobbers   f a de hl
; Bytes      31
show_challenge:
        ld   hl, text_score
        call print_text
        ld   a, (challenge_turn)
        inc  a
        call print_digit
        call print_text
        ld   a, (challenge_yours)
        call print_digit
        call print_text
        ld   a, (challenge_its)
        jp   print_digit
show_challenge_end:
