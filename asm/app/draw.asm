; The drawing board: the net reads what is drawn, while it is drawn.

KEY_NEW:        equ 78          ; N
KEY_THICK:      equ 84          ; T
KEY_ERASE:      equ 69          ; E
KEY_STICK:      equ 74          ; J
SURE_LENGTH:    equ 91          ; a second bar of an eighth less than the longest, or more, is a doubt
AT_STICK:       equ BOTTOM_THIRD + 5 * 32 + 23
LOOK_FRAMES:    equ 8           ; the pen moves for no more frames at a time
REST_FRAMES:    equ 50          ; the pen rests for so many before the net may think long
AT_GUESS:       equ BOTTOM_THIRD + 3 * 32

; draw - draw, until a key leads elsewhere
; Bytes      209                (with its keys)
draw:
        call draw_stage
        ld   hl, text_draw
        call print_text
        ld   hl, SEEN_COLOURS
        ld   bc, 7 * 257
        ld   a, BRIGHT + BLUE * PAPER + WHITE
        call fill_colour
        call show_stick
        call show_canvas
        call show_pen
        ld   hl, 0xFFFF
        ld   (draw_guess), hl   ; none
draw_changed:                   ; read the canvas, with a look at the keys now and then
        ld   hl, canvas_changed
        ld   (hl), 0
        ld   hl, canvas
        ld   de, picture
        call normalise
        jr   c, draw_blank
        call look_at_pen
        if NET_THINKS
        ld   a, HASTE
        ld   (classify_haste), a
        endif
        ld   hl, picture
        call classify
        if NET_THINKS
draw_read:                      ; a = digit or HASTE
        and  15
        endif
        ld   c, a               ; c = digit read, or DIGIT_UNKNOWN
        push bc
        call look_at_pen
        call measure_bars
        pop  bc
        call find_second
        if NET_THINKS
        ld   a, c
        cp   DIGIT_UNKNOWN
        jr   nz, draw_known
        ld   c, b               ; what it looks like in haste comes first
        ld   b, a
draw_known:
        endif
        call show_guess
        call show_reading
        ld   hl, draw_turn
        inc  (hl)
        ld   a, (hl)
        and  7
        jr   nz, draw_shown     ; the pen is more pressing, seven times of eight
        call draw_seen
draw_shown:
        call look_at_pen
        ld   a, (canvas_changed)
        or   a
        jr   nz, draw_changed
        call draw_seen
        jr   draw_rest
draw_blank:
        ld   hl, scores
        ld   bc, 2 * DIGITS - 1
        call clear_bytes
        call measure_bars
        ld   hl, text_nothing
        call print_text
        ld   a, WHITE
        ld   (read_colour), a   ; all alike
        ld   (other_colour), a
        ld   c, DIGIT_NONE
        ld   (draw_guess), bc
        call show_reading
        call draw_seen
draw_rest:
        ld   b, REST_FRAMES
draw_next:                      ; b = frames until the net may think
        push bc
        call look_at_pen
        pop  bc
        ld   a, (canvas_changed)
        or   a
        jp   nz, draw_changed
        halt
        if NET_THINKS
        ld   a, (pen_held)
        or   a
        jr   nz, draw_rest
        djnz draw_next
        ld   a, (draw_guess + 1)
        cp   DIGIT_UNKNOWN
        jr   nz, draw_next      ; it is sure already
        ld   hl, text_thinking
        ld   de, AT_GUESS
        call print_text
        call think
        push af
        ld   a, (kept_key)
        call draw_key
        pop  af
        jp   draw_read
        else
        jr   draw_next
        endif

; look_at_pen - if a frame or more has gone since the last look, obey the keys and move the pen
; Writes     the canvas, and canvas_changed
; Clobbers   f a bc de hl ix
; Bytes      116
look_at_pen:
        ld   a, (SYS_FRAMES)
        ld   hl, pen_frame
        ld   b, a
        sub  (hl)
        ret  z
        ld   (hl), b
        cp   LOOK_FRAMES
        jr   c, look_at_pen_frames
        ld   a, LOOK_FRAMES
look_at_pen_frames:
        push af
        call look_at_keys
        call draw_key
        call read_pen
        pop  af
        ld   b, a
        jp   move_pen

draw_key:                       ; a = key pressed, or 0
        cp   KEY_ERASE
        jr   z, draw_key_erase
        cp   KEY_NEW
        jr   z, draw_key_new
        cp   KEY_STICK
        jr   z, draw_key_stick
        cp   KEY_THICK
        ret  nz
        call hide_pen
        ld   hl, pen_size
        inc  (hl)
        ld   a, (hl)
        cp   PEN_LARGEST + 1
        jr   c, draw_key_fit
        ld   (hl), 2
draw_key_fit:                   ; the pen stays on the canvas
        ld   a, CANVAS_CELLS
        sub  (hl)
        ld   hl, pen_y
        call draw_key_least
        inc  hl                 ; pen_x
        call draw_key_least
        jp   show_pen
draw_key_least:
        cp   (hl)
        ret  nc
        ld   (hl), a
        ret
draw_key_erase:
        ld   a, (pen_erases)
        cpl
        ld   (pen_erases), a
        ret
draw_key_new:
        call clear_canvas
        xor  a
        ld   (pen_erases), a
        inc  a
        ld   (canvas_changed), a
        call show_canvas
        jp   show_pen
draw_key_stick:
        ld   hl, pen_stick
        inc  (hl)
        ld   a, (hl)
        cp   STICKS
        jr   c, show_stick
        ld   (hl), 0
        ; and on: show it
look_at_pen_end:

; show_stick - tell which stick the pen obeys
; Clobbers   f a b de hl
; Bytes      17
show_stick:
        ld   a, (pen_stick)
        ld   b, a
        inc  b
        ld   hl, text_sticks
show_stick_name:                ; one name over the other, until the right one
        ld   de, AT_STICK
        call print_text
        djnz show_stick_name
        ret

; find_second - find the digit that the net has nearly read
; In         c = digit read, or DIGIT_UNKNOWN;  bar_lengths
; Out        b = the digit of the next longest bar if that is SURE_LENGTH or more, else b = c
; Clobbers   f a de hl
; Bytes      25
find_second:
        ld   b, c
        ld   hl, bar_lengths
        ld   de, 256 * SURE_LENGTH
find_second_next:               ; hl = length, e = its digit, d = longest so far
        ld   a, e
        cp   c
        jr   z, find_second_on
        ld   a, (hl)
        cp   d
        jr   c, find_second_on
        ld   d, a
        ld   b, e
find_second_on:
        inc  hl
        inc  e
        ld   a, e
        cp   DIGITS
        jr   nz, find_second_next
        ret

; show_guess - tell the digit read, or the two that it may be, and choose the colour of what shows it
; In         c = digit read;  b = second, or c, or DIGIT_UNKNOWN, which shows as a question mark
; Clobbers   f a de hl
; Bytes      47
show_guess:
        ld   hl, (draw_guess)
        or   a
        sbc  hl, bc
        ret  z                  ; as before
        ld   (draw_guess), bc
        ld   a, b
        cp   c
        ld   hl, 257 * BRIGHT + 257 * CYAN
        ld   de, text_reads
        jr   z, show_guess_colour
        ld   hl, 257 * BRIGHT + 257 * YELLOW
        ld   de, text_doubt
show_guess_colour:
        ld   (read_colour), hl  ; and other_colour
        ex   de, hl
        call print_text
        ld   a, c
        call print_digit
        call print_text
        ld   a, b
        cp   c
        ret  z
        jp   print_digit
show_guess_end:
