; The menu: what each key does, and what has been learned so far.

AT_LEARNED:     equ BOTTOM_THIRD + 4 * 32

; menu - show the keys, until one leads elsewhere
; Bytes      24
menu:
        ld   hl, text_menu
        call print_text
        ld   de, AT_LEARNED
        call tell_learned
wait_for_screen:                ; its own key shows a screen anew
        call next_key
        ld   hl, app_screen
        cp   (hl)
        jr   nz, wait_for_screen
        jp   app_enter

; tell_learned - tell how much has been learned, in a line
; In         de = screen address of the line
; Clobbers   f a bc de hl ix
; Bytes      34
tell_learned:
        ld   a, (state_stage)
        or   a
        ld   hl, text_learned_nothing
        jp   z, print_text
        ld   hl, text_learned_counts
        dec  a
        jp   z, print_text
        ld   hl, text_learned
        call print_text
        push hl
        ld   l, a
        ld   h, 0
        call print_two
        pop  hl
        jp   print_text

; print_two - print a number in two places
; In         hl = number, 0..99;  de = screen address of the first cell
; Out        de = screen address after the last cell
; Clobbers   f a bc hl ix
; Bytes      13
print_two:
        ld   b, 1
        ld   ix, power_10
        call print_places
        ld   a, l
        jp   print_digit

; show_memory - show a part of the weights as they lie in memory, in the middle of the screen
; Clobbers   f a bc de hl
; Bytes      22
show_memory:
        ld   hl, learn_weight_page
        ld   de, MIDDLE_THIRD
        ld   bc, 2048
        ldir
        ld   hl, CURVE_COLOURS
        ld   bc, 8 * 256 + 32
        ld   a, BRIGHT + MAGENTA
        jp   fill_colour

; must_have_learned - return if something has been learned; else say so and wait for a key that leads elsewhere
; Clobbers   f a de hl
; Bytes      13
must_have_learned:
        ld   a, (state_stage)
        or   a
        ret  nz
        ld   hl, text_learn_first
        call print_text
        jr   wait_for_screen

; draw_digits - the drawing board, for one who has learned to read
; Bytes      6
draw_digits:
        call must_have_learned
        jp   draw
app_menu_end:
