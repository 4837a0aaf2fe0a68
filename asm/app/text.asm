; Text in the ROM's letters, one cell a character.

; print_text - print characters up to a zero
; In         hl = text;  de = screen address of the first cell
; Out        hl = byte after the zero;  de = screen address after the last cell
; Clobbers   f a
; Bytes      9
print_text:
        ld   a, (hl)
        inc  hl
        or   a
        ret  z
        call print_char
        jr   print_text

; print_char - print one character
; In         a = character, 32..127;  de = screen address of the cell
; Out        de = screen address of the next cell of the row
; Clobbers   f a
; T-states   434
; Bytes      28
print_char:
        push bc
        push hl
        ld   l, a
        ld   h, 0
        add  hl, hl
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
        ld   a, d
        sub  8
        ld   d, a
        inc  e
        pop  hl
        pop  bc
        ret
print_char_end:
