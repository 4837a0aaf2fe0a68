; What the net read: a large digit of lamps, green or red, and a word on it.

AT_VERDICT:     equ TOP_THIRD + 5 * 32 + 17
AT_TRUTH:       equ TOP_THIRD + 7 * 32 + 17
VERDICT_COLOURS: equ ATTRIBUTES + 5 * 32 + 17
VERDICT_CELLS:  equ 8
LAMPS_COLOURS:  equ ATTRIBUTES + 3 * 32 + LAMPS_COLUMN
LAMP_OFF:       equ BLACK

; show_verdict - show the digit read, whether it is right and, if it is not, the true one
; In         b = true digit;  c = digit read
; Clobbers   f a c de hl
; Bytes      53
show_verdict:
        ld   a, c               ; a = digit read
        ld   hl, text_right
        ld   c, BRIGHT + GREEN
        cp   b
        jr   z, show_verdict_in_colour
        ld   hl, text_wrong
        ld   c, BRIGHT + RED
show_verdict_in_colour:
        push af                 ; z = right
        push hl
        call draw_digit
        ld   hl, VERDICT_COLOURS
        ld   a, VERDICT_CELLS
show_verdict_cell:              ; hl = cell of the word, a = cells left
        ld   (hl), c
        inc  hl
        dec  a
        jr   nz, show_verdict_cell
        pop  hl
        ld   de, AT_VERDICT
        call print_text
        ld   de, AT_TRUTH
        call print_text         ; the text that follows: blanks, or "it is"
        pop  af
        ret  z
        ld   a, b
        add  a, ZERO
        ld   de, AT_TRUTH + 7
        jp   print_char

; draw_digit - light the lamps of a digit: the middle 6 x 6 pixels of the ROM's 8 x 8
; In         a = digit;  c = attribute of a lit lamp
; Clobbers   f a de hl
; Bytes      46
draw_digit:
        push bc
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

text_right:
        defb 32, 32, 32, 114, 105, 103, 104, 116, 0  ; right
        defb 32, 32, 32, 32, 32, 32, 32, 32, 0
text_wrong:
        defb 32, 32, 32, 119, 114, 111, 110, 103, 0  ; wrong
        defb 32, 105, 116, 32, 105, 115, 32, 0       ; it is
