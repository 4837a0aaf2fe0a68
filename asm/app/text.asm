; Text in the ROM's letters, one cell a character, each in a colour.

KEY_COLOUR:     equ BRIGHT + YELLOW

; print_text - print characters and obey the codes between them, up to a zero
;
; 1 to 15 choose the colour: the ink, and 8 for bright. 16 and a screen address go there. 17 to 31 are 1 to 15 blanks.
; A character of 128 or more is that less 128, in the colour of keys.
;
; In         hl = text;  de = screen address of the first cell
; Out        hl = byte after the zero;  de = screen address after the last cell
; Clobbers   f a
; Bytes      50
print_text:
        ld   a, (hl)
        inc  hl
        or   a
        ret  z
        cp   32
        jr   c, print_text_code
        call print_char
        jr   print_text
print_text_code:
        sub  16
        jr   c, print_text_colour
        jr   z, print_text_go
print_text_blank:               ; a = blanks left
        push af
        ld   a, 32
        call print_char
        pop  af
        dec  a
        jr   nz, print_text_blank
        jr   print_text
print_text_go:
        ld   e, (hl)
        inc  hl
        ld   d, (hl)
        inc  hl
        jr   print_text
print_text_colour:              ; a = code less 16
        add  a, 16
        cp   8
        jr   c, print_text_dim
        add  a, BRIGHT - 8
print_text_dim:
        ld   (text_colour), a
        jr   print_text

; print_digit - print one digit
; In         a = digit;  de = screen address of the cell
; Out        de = screen address of the next cell of the row
; Clobbers   f a
; Bytes      2                  (falls into print_char)
print_digit:
        add  a, ZERO

; print_char - print one character in its colour
; In         a = character, 32..127, and 128 more for the colour of keys;  de = screen address of the cell
; Out        de = screen address of the next cell of the row
; Clobbers   f a
; T-states   511..513
; Bytes      46
print_char:
        push bc
        push hl
        add  a, a               ; carry = the name of a key
        ld   l, a
        ld   a, (text_colour)
        jr   nc, print_char_colour
        ld   a, KEY_COLOUR
print_char_colour:
        push af
        ld   h, 0
        add  hl, hl
        add  hl, hl
        ld   bc, ROM_FONT - 256 ; the font begins with character 32
        add  hl, bc
        ld   b, 8
print_char_line:                ; hl = line of the character, b = lines left
        ld   a, (hl)
        ld   (de), a
        inc  hl
        inc  d
        djnz print_char_line
        ld   a, d               ; 0x48, 0x50 or 0x58
        rrca
        rrca
        rrca
        add  a, 0x4F
        ld   h, a
        ld   l, e               ; hl = attribute of the cell
        pop  af
        ld   (hl), a
        ld   a, d
        sub  8
        ld   d, a
        inc  e
        pop  hl
        pop  bc
        ret
print_char_end:
