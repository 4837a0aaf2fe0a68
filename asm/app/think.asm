; Reading a picture when nothing else has to be done meanwhile: the net may think for seconds, and the screen says so.

; read_picture - read the picture and measure how long that takes
;
; First in haste. A net that would think long says so instead of a digit; then the screen tells that it is thinking, and shows
; the scores so far, while the picture is read once more, to the end. So what is read in haste is read once, and as quickly as
; ever.
;
; In         picture;  hl = text that leads to the place where the screen tells that the net is thinking
; Out        a = digit read;  hl = time, low word, in units of 23 T-states;  e = its high byte
; Writes     kept_key, if the net thinks long
; Clobbers   f bc d ix
; Bytes      36                 (falls into think)
; Needs      interrupts on
read_picture:
        push hl
        ld   a, HASTE
        call read_with_haste
        pop  bc                 ; bc = text
        cp   HASTE
        ret  nz
        push bc
        call measure_bars
        ld   hl, 257 * BRIGHT + 257 * YELLOW
        ld   (read_colour), hl  ; and other_colour
        ld   bc, 257 * DIGIT_UNKNOWN
        call show_reading
        pop  hl
        call print_text
        ld   hl, text_thinking
        call print_text

; think - read the picture to the end and measure how long that takes; keep the key that is pressed meanwhile
; In         picture
; Out        a = digit read;  hl = time, low word, in units of 23 T-states;  e = its high byte
; Writes     kept_key = key pressed, or 0
; Clobbers   f bc d ix
; Bytes      30                 (with read_with_haste)
; Needs      interrupts on
think:
        res  5, (iy+1)          ; FLAGS: no key was pressed
        xor  a
        call read_with_haste
        push af
        push hl
        push de
        call find_kept_key
        ld   (kept_key), a
        pop  de
        pop  hl
        pop  af
        ret

read_with_haste:                ; a = HASTE or 0
        ld   (classify_haste), a
        ld   hl, picture
        jp   time_classify

; find_kept_key - tell which key the ROM has kept since bit 5 of FLAGS was clear, and obey the letter of another screen
; Out        a = capital letter, digit, 13 for ENTER or 32 for SPACE; 0 = none, or the one that was down before
; Clobbers   f bc de hl
; Bytes      20
find_kept_key:
        bit  5, (iy+1)          ; FLAGS: a key was pressed
        jp   z, look_none
        ld   a, (SYS_LAST_K)
        cp   97                 ; a
        jp   c, look_key
        sub  32
        jp   look_key
think_end:
