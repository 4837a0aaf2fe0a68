; Teaching: what lies on the drawing board is an example of a digit that you name.

KEY_WIPE:       equ 87          ; W
KEY_GO_OVER:    equ 71          ; G
PRACTICE_TENS:  equ 80          ; 400 pictures, twice

; teach - show what the Z80 sees of the drawing and learn which digit it is, until a key leads elsewhere
; Bytes      157
teach:
        call must_have_learned
        ld   hl, canvas
        ld   de, picture
        call normalise
        ld   hl, text_draw_first
        jp   c, tape_tell
        ld   hl, picture
        call classify
        push af
        call draw_stage
        call draw_lattice
        call draw_cells
        call measure_bars
        ld   hl, text_teach
        call print_text
        ld   hl, 257 * BRIGHT + 257 * CYAN
        ld   (read_colour), hl  ; and other_colour
        pop  af
        ld   b, a
        ld   c, a
        call show_reading
teach_wait:
        call next_key
        cp   KEY_WIPE
        jr   z, teach_wipe
        cp   KEY_GO_OVER
        jr   z, teach_go_over
        sub  ZERO
        cp   DIGITS
        jr   nc, teach_wait
        ld   hl, small
        call learn_teach
teach_again:
        ld   a, KEY_TEACH
        jp   app_enter

teach_wipe:                     ; forget a digit
        ld   hl, text_wipe
        call print_text
teach_wipe_wait:
        call next_key
        or   a
        jr   z, teach_wipe_wait
        cp   KEY_WIPE
        jr   z, teach_wipe_all
        sub  ZERO
        cp   DIGITS
        call c, learn_forget
        jr   teach_again
teach_wipe_all:
        ld   a, DIGITS
teach_wipe_next:                ; a = digits left
        dec  a
        push af
        call learn_forget
        pop  af
        jr   nz, teach_wipe_next
        jr   teach_again

teach_go_over:                  ; look at the first pictures of all digits once more
        ld   hl, text_go_over
        call print_text
        ld   b, PRACTICE_TENS
teach_go_over_turn:
        ld   hl, learn_pictures
teach_go_over_ten:              ; hl = ten pictures, b = tens left
        push bc
        push hl
        ld   b, 1
        call learn_pass
        call look_at_keys
        pop  hl
        ld   de, 130
        add  hl, de
        pop  bc
        dec  b
        jr   z, teach_again
        ld   a, b
        cp   PRACTICE_TENS / 2
        jr   z, teach_go_over_turn
        jr   teach_go_over_ten
app_teach_end:
