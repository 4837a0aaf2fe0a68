; What the net read: a large digit of lamps and ten bars, in colours that tell whether it is right.

LAMPS_COLOURS:  equ ATTRIBUTES + 3 * 32 + LAMPS_COLUMN
LAMP_OFF:       equ BLACK
DIGIT_UNKNOWN:  equ 15          ; the character 15 after the zero is the question mark
DIGIT_NONE:     equ 0 - 16      ; and 16 before it is the space

; judge - choose colours: green where the digit read is the true one, else red for it and yellow for the true one
; In         b = true digit;  c = digit read
; Out        z flag = it is right;  hl = colour of the digit read, and of the true one
; Clobbers   f a
; Bytes      14
judge:
        ld   hl, 257 * BRIGHT + 256 * YELLOW + RED
        ld   a, b
        cp   c
        jr   nz, judge_colours
        ld   hl, 257 * BRIGHT + 257 * GREEN
judge_colours:
        ld   (read_colour), hl
        ret

; show_reading - show the digit read, large, and the bars
; In         b = true digit, or second;  c = digit read;  their colours in memory
; Clobbers   f a de hl ix
; Bytes      11
show_reading:
        ld   a, (read_colour)
        ld   l, a
        ld   a, c
        call draw_digit
        jp   draw_bars

; draw_digit - light the lamps of a digit: the middle 6 x 6 pixels of the ROM's 8 x 8
; In         a = digit, DIGIT_UNKNOWN or DIGIT_NONE;  l = attribute of a lit lamp
; Clobbers   f a de hl
; Bytes      47
draw_digit:
        push bc
        ld   c, l
        add  a, ZERO - 32       ; the font begins with the space
        ld   l, a
        ld   h, 0
        add  hl, hl
        add  hl, hl
        add  hl, hl
        ld   de, ROM_FONT + 1
        add  hl, de
        ex   de, hl             ; de = second row of the character
        ld   hl, LAMPS_COLOURS
draw_digit_row:                 ; de = row of the character, hl = its first lamp
        ld   a, (de)
        rlca
        ld   b, LAMPS_ACROSS
draw_digit_lamp:                ; a = pixels left from bit 7 on, b = lamps left
        ld   (hl), LAMP_OFF
        rlca
        jr   nc, draw_digit_dark
        ld   (hl), c
draw_digit_dark:
        inc  hl
        djnz draw_digit_lamp
        push de
        ld   de, 32 - LAMPS_ACROSS
        add  hl, de
        pop  de
        inc  de
        ld   a, e
        and  7
        cp   7
        jr   nz, draw_digit_row ; until the last row
        pop  bc
        ret
draw_digit_end:
