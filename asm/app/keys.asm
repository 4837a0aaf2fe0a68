; Keys: what was pressed, and the two kinds that every screen obeys: BREAK and the letter of another screen.

BREAK_LOOKS:    equ 3           ; BREAK counts when it is seen this often in a row

; next_key - wait for the next frame and tell which key was pressed in it
; Out        a = capital letter, digit, 13 for ENTER or 32 for SPACE; 0 = no key, or one that was down before
; Clobbers   f bc de hl
; Bytes      75                 (with look_at_keys and look_key)
; Needs      interrupts on
next_key:
        halt
look_at_keys:                   ; the same without the wait
        call ROM_BREAK_KEY
        ld   a, KEYS_1_TO_5     ; CAPS SHIFT and 5 to 8 are the arrows of later keyboards: with SPACE they draw
        in   a, (PORT_ULA)
        jr   c, look_no_break
        cpl
        and  16                 ; 5
        ld   b, a
        ld   a, KEYS_0_TO_6
        in   a, (PORT_ULA)
        cpl
        and  28                 ; 6, 7, 8
        or   b
        jr   nz, look_no_break
        ld   hl, keys_break
        inc  (hl)
        ld   a, (hl)
        cp   BREAK_LOOKS
        jr   nc, app_leave
        xor  a
        ret
look_no_break:
        xor  a
        ld   (keys_break), a
        call ROM_KEY_SCAN
        ld   a, 0
        jr   nz, look_key
        call ROM_K_TEST
        jr   c, look_key
        xor  a
look_key:                       ; a = key that is down, 0 for none
        ld   hl, keys_last
        cp   (hl)
        ld   (hl), a
        jr   z, look_none
        or   a
        ret  z
        call app_find
        ret  nz
        ld   hl, app_screen
        cp   (hl)
        jp   nz, app_enter
        ret
look_none:
        xor  a
        ret
look_at_keys_end:
