; Numbers on the screen, and how many were right.

AT_RIGHT:       equ BOTTOM_THIRD + 3 * 32 + 1
AT_SHOWN:       equ BOTTOM_THIRD + 3 * 32 + 7
DOT:            equ 46
COMMA:          equ 44
ZERO:           equ 48

; show_count - show how many of the pictures so far were read right
; Clobbers   f a bc de hl ix
; Bytes      38
show_count:
        ld   a, WHITE
        ld   (text_colour), a
        ld   a, (app_right)
        ld   de, AT_RIGHT
        call show_count_one
        ld   a, (app_shown)
        ld   de, AT_SHOWN
show_count_one:                 ; a = count, 0..99
        ld   l, a
        ld   h, 0
        ld   b, 1
        ld   ix, power_10
        call print_places
        ld   a, l
        add  a, ZERO
        jp   print_char

; scale_units - multiply with a fraction
; In         hl, de
; Out        hl = round(hl * de / 65536)
; Clobbers   f a de
; Bytes      14
scale_units:
        push bc
        ld   b, h
        ld   c, l
        call mul_u16_u16
        pop  bc
        add  hl, hl             ; carry = half or more
        ld   hl, 0
        adc  hl, de
        ret

; print_decimal - print a number of tenths or hundredths: places, right-aligned, a separator and one place or two
; In         hl = number, u16;  b = places before the separator, 4 or 3;  c = separator;  de = screen address of the first cell
; Out        de = screen address after the last cell
; Clobbers   f a bc hl ix
; Bytes      34
print_decimal:
        push bc
        dec  b
        ld   ix, power_10000
        call print_places
        ld   bc, 256 + ZERO     ; the last place before the separator is never blank
        call print_places_next
        pop  bc
        ld   a, c
        call print_char
        bit  2, b
        ld   bc, 256 + ZERO
        call z, print_places_next
        ld   a, l
        add  a, ZERO
        jp   print_char

; print_places - print the leading places of a number, blanks for leading zeros
; In         hl = number, u16;  ix = the first place's power;  b = places;  de = screen address of the first cell
; Out        hl = what is left for the places after;  de = screen address after the last cell
; Clobbers   f a bc ix
; Bytes      48                 (with the powers)
print_places:
        ld   c, 32              ; a blank until the first digit
print_places_next:              ; hl = number left, b = places left, c = how a zero looks
        push bc
        push de
        ld   e, (ix+0)
        ld   d, (ix+1)          ; de = power
        ld   a, ZERO - 1
print_places_subtract:
        inc  a
        or   a
        sbc  hl, de
        jr   nc, print_places_subtract
        add  hl, de
        pop  de
        pop  bc
        cp   ZERO
        jr   nz, print_places_digit
        ld   a, c
        jr   print_places_put
print_places_digit:
        ld   c, ZERO            ; zeros show from here on
print_places_put:
        call print_char
        inc  ix
        inc  ix
        djnz print_places_next
        ret

power_10000:
        defw 10000, 1000, 100
power_10:
        defw 10
print_places_end:
