; The gallery: test pictures one after another, what the net reads in them, how sure it is, how long it took.
;
; The including source provides
;   classify          hl = picture -> a = digit; changes af bc de hl ix; scores left in
;   scores            ten words, u16
;   gallery_pictures  GALLERY_COUNT pictures of 28 rows of 4 bytes, at most 99
;   gallery_labels    GALLERY_COUNT bytes, the true digits
;   text_net          at most 32 characters, then a zero
; and includes, at the address that BASIC calls, app/system, gallery, screen, picture, verdict, bars, numbers, text,
; lib/line_address, mul_u16_u16, div_u16_u8; and app/timing where the ULA does not slow the processor, at 0x8000 or above.

PICTURE_BYTES:  equ 112
WAIT_FRAMES:    equ 50          ; a second
WAIT_FAST:      equ 5           ; a tenth of a second, while SPACE is down

; app_start - show the gallery again and again until BREAK
; Out        bc = pictures read right since the first one, so that PRINT USR shows it
; Clobbers   af bc de hl ix     (the alternate registers, and so BASIC's hl', are never touched)
; Bytes      110
; Needs      IM 1, interrupts on, iy as BASIC keeps it
app_start:
        xor  a
        out  (PORT_ULA), a      ; black border
        call draw_screen
app_first:
        ld   hl, 0
        ld   (app_right), hl    ; app_right = app_shown = 0
        ld   hl, gallery_pictures
app_next:                       ; hl = picture to show, app_shown = its index
        push hl
        halt                    ; draw ahead of the beam
        call draw_picture
        pop  hl
        push hl
        call time_classify
        push hl                 ; units of time
        ld   c, a               ; c = digit read
        ld   hl, gallery_labels
        ld   de, (app_shown)
        ld   d, 0
        add  hl, de
        ld   b, (hl)            ; b = true digit
        ld   hl, app_shown
        inc  (hl)
        ld   a, c
        cp   b
        jr   nz, app_judged
        ld   hl, app_right
        inc  (hl)
app_judged:
        push bc
        call show_verdict
        pop  bc
        call draw_bars
        call show_count
        pop  hl
        call show_time
        call wait_picture
        pop  hl
        jr   c, app_leave
        ld   bc, PICTURE_BYTES
        add  hl, bc
        ld   a, (app_shown)
        cp   GALLERY_COUNT
        jr   nz, app_next
        jr   app_first
app_leave:
        ld   a, KEYS_SPACE_TO_B ; wait for SPACE to come up, or BASIC would read it
        in   a, (PORT_ULA)
        rra
        jr   nc, app_leave
        ld   a, (SYS_BORDCR)
        rra
        rra
        rra
        and  7
        out  (PORT_ULA), a
        ld   bc, (app_right)
        ld   b, 0
        ret

app_right:
        defb 0                  ; pictures read right since the first one
app_shown:
        defb 0                  ; pictures shown since the first one

; wait_picture - leave the picture on the screen for a second, or a tenth of one while SPACE is down
; Out        carry set = BREAK is down
; Clobbers   f a b
; Bytes      26
; Needs      interrupts on
wait_picture:
        ld   b, WAIT_FRAMES
wait_picture_frame:             ; b = frames left
        halt
        call ROM_BREAK_KEY
        ccf
        ret  c
        ld   a, KEYS_SPACE_TO_B
        in   a, (PORT_ULA)
        rra
        jr   c, wait_picture_on ; SPACE is up
        ld   a, b
        cp   WAIT_FAST
        jr   c, wait_picture_on
        ld   b, WAIT_FAST
wait_picture_on:
        djnz wait_picture_frame
        or   a                  ; carry clear
        ret
wait_picture_end:
