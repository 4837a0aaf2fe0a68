; Reading: test pictures that were not learned from, one after another, and how many are read right.

READ_FRAMES:    equ 50          ; frames that a picture stays
READ_FAST:      equ 5           ; and while SPACE is down

; read - read the test pictures again and again, until a key leads elsewhere
; Bytes      133
read:
        call must_have_learned
        call draw_stage
        call draw_lattice
        ld   hl, text_read
        call print_text
read_first:
        ld   hl, 0
        ld   (app_right), hl    ; app_right = app_shown = 0
        ld   hl, app_tests
read_next:                      ; hl = picture; the last 4 bits of its 13 bytes tell the digit
        push hl
        call read_small
        ld   c, a               ; c = digit read
        pop  hl
        ld   de, 12
        add  hl, de
        ld   a, (hl)
        and  15
        ld   b, a               ; b = true digit
        inc  hl
        push hl
        ld   hl, app_shown
        inc  (hl)
        ld   a, b
        cp   c
        jr   nz, read_judged
        dec  hl                 ; app_right
        inc  (hl)
read_judged:
        push bc
        call measure_bars
        halt                    ; draw ahead of the beam
        call draw_cells
        pop  bc
        call judge
        ld   hl, text_right
        jr   z, read_word
        ld   hl, text_wrong
read_word:
        push af
        call print_text
        ld   a, b
        pop  hl
        bit  6, l               ; the zero flag of judge
        call z, print_digit
        call show_reading
        call show_count
        ld   b, READ_FRAMES
read_wait:                      ; b = frames left
        push bc
        call next_key
        pop  bc
        cp   KEY_SPACE
        jr   z, read_on
        ld   a, KEYS_SPACE_TO_B
        in   a, (PORT_ULA)
        rra
        jr   c, read_wait_on
        ld   a, b
        cp   READ_FAST
        jr   c, read_wait_on
        ld   b, READ_FAST
read_wait_on:
        djnz read_wait
read_on:
        pop  hl
        ld   a, (app_shown)
        cp   TESTS
        jr   c, read_next
        ld   b, 3 * READ_FRAMES ; look at the score
read_wait_last:
        push bc
        call next_key
        pop  bc
        djnz read_wait_last
        jr   read_first
app_read_end:
