; Times on the screen. UNIT_MS and LONG_SECONDS depend on the machine's clock: tenths of a millisecond in a unit of 23 T-states,
; hundredths of a second in 256 units, both * 65536.

AT_MS:          equ BOTTOM_THIRD + 5 * 32 + 5
AT_TSTATES:     equ BOTTOM_THIRD + 5 * 32 + 15
UNIT_TSTATES:   equ 15073       ; hundreds of T-states in a unit, * 65536
LONG_TSTATES:   equ 38588       ; ten thousands of T-states in 256 units, * 65536

; show_time - show a time in milliseconds and T-states, or if it has a high byte, in seconds and millions of T-states
; In         hl = time, low word, in units of 23 T-states;  e = its high byte
; Clobbers   f a bc de hl ix
; Bytes      81
show_time:
        ld   a, e
        or   a
        jr   nz, show_time_long
        push hl
        ld   bc, 256 * 4 + DOT
        ld   de, UNIT_MS
        call show_time_first
        pop  hl
        ld   bc, 256 * 4 + COMMA
        ld   de, UNIT_TSTATES
        call show_time_second
        ld   hl, text_short
        jp   print_text
show_time_long:                 ; ahl = time
        rl   l
        ld   l, h
        ld   h, a
        jr   nc, show_time_rounded
        inc  hl
show_time_rounded:              ; hl = time, in 256 units
        push hl
        ld   bc, 256 * 3 + DOT
        ld   de, LONG_SECONDS
        call show_time_first
        pop  hl
        ld   bc, 256 * 3 + DOT
        ld   de, LONG_TSTATES
        call show_time_second
        ld   hl, text_long
        jp   print_text

show_time_first:                ; hl = time, de = what it is worth, bc as print_decimal wants it
        call scale_units
        ld   de, AT_MS
        jp   print_decimal
show_time_second:
        call scale_units
        ld   de, AT_TSTATES
        jp   print_decimal
time_end:
