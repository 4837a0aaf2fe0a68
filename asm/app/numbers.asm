; Numbers on the screen: how many were right, and the time.

AT_RIGHT:       equ BOTTOM_THIRD + 3 * 32 + 1
AT_SHOWN:       equ BOTTOM_THIRD + 3 * 32 + 7
AT_MS:          equ BOTTOM_THIRD + 5 * 32 + 5
AT_TSTATES:     equ BOTTOM_THIRD + 5 * 32 + 15
UNIT_MS:        equ 4307        ; tenths of a millisecond in a unit of 23 T-states at 3.5 MHz, * 65536
UNIT_TSTATES:   equ 15073       ; hundreds of T-states in a unit, * 65536
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

; show_time - show a time in milliseconds and in T-states
; In         hl = time, in units of 23 T-states
; Clobbers   f a bc de hl ix
; Bytes      41
show_time:
        push hl
        ld   de, UNIT_MS
        call scale_units
        ld   c, DOT
        ld   de, AT_MS
        call print_tenths
        pop  hl
        ld   de, UNIT_TSTATES
        call scale_units
        ld   c, COMMA
        ld   de, AT_TSTATES
        jr   print_tenths

scale_units:                    ; hl = round(hl * de / 65536)
        ld   b, h
        ld   c, l
        call mul_u16_u16
        add  hl, hl             ; carry = half or more
        ld   hl, 0
        adc  hl, de
        ret

; print_tenths - print a number of tenths: four places, right-aligned, a separator and the tenth
; In         hl = number, u16;  c = separator;  de = screen address of the first cell
; Out        de = screen address after the last cell
; Clobbers   f a hl ix
; Bytes      21
print_tenths:
        push bc
        ld   b, 4
        ld   ix, power_10000
        call print_places
        pop  bc
        ld   a, c
        call print_char
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
