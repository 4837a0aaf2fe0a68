; The gallery: test pictures one after another, what the net reads in them, how sure it is, how long it took.

WAIT_SLOW:      equ 150         ; frames that a picture stays
WAIT_USUAL:     equ 50
WAIT_FAST:      equ 5           ; and while SPACE is down
KEY_SPACE:      equ 32
KEY_PAUSE:      equ 80          ; P
KEY_WRONG:      equ 87          ; W
KEY_1:          equ 49

; gallery - show the gallery again and again, until a key leads elsewhere
; Bytes      315                (with its keys)
gallery:
        call draw_stage
        ld   hl, text_gallery
        call print_text
        ld   hl, text_net
        call print_text
        ld   hl, 0
        ld   (gallery_paused), hl ; and gallery_wrong_only
        ld   hl, WAIT_USUAL
        ld   (gallery_frames), hl ; and kept_key = 0
gallery_first:
        ld   hl, 0
        ld   (app_right), hl    ; app_right = app_shown = 0
        xor  a
gallery_show:                   ; a = index of the picture
        ld   (gallery_index), a
        ld   ix, gallery_pictures
        call unpack_picture
        halt                    ; draw ahead of the beam
        call draw_picture
        call gallery_look
        ld   hl, text_place
        call read_picture
        push hl                 ; time, low word
        push de                 ; e = its high byte
        ld   c, a               ; c = digit read
        ld   de, (gallery_index)
        ld   d, 0
        ld   hl, gallery_labels
        add  hl, de
        ld   b, (hl)            ; b = true digit
        ld   hl, app_shown
        ld   a, (hl)
        cp   e
        jr   nz, gallery_judged ; seen before
        inc  (hl)
        dec  hl                 ; app_right
        ld   a, c
        cp   b
        jr   z, gallery_right
        ld   hl, gallery_wrong
        add  hl, de
        ld   (hl), 0
gallery_right:
        inc  (hl)
gallery_judged:
        push bc
        call gallery_look
        call measure_bars
        pop  bc
        call judge
        ld   hl, text_right
        jr   z, gallery_word
        ld   hl, text_wrong
gallery_word:
        push af
        call print_text
        ld   a, b
        pop  hl
        bit  6, l               ; the zero flag of judge
        call z, print_digit
        call show_reading
        call show_count
        pop  de
        pop  hl
        call show_time
        call gallery_wait
        ld   a, (gallery_wrong_only)
        or   a
        ld   a, (gallery_index)
        jr   nz, gallery_next_wrong
        ld   a, (app_shown)
        cp   GALLERY_COUNT
        jr   nz, gallery_show
        jr   gallery_first
gallery_next_wrong:             ; a = index of the picture before
        inc  a
        cp   GALLERY_COUNT
        jr   c, gallery_is_wrong
        xor  a
gallery_is_wrong:
        ld   e, a
        ld   d, 0
        ld   hl, gallery_wrong
        add  hl, de
        bit  0, (hl)
        jr   z, gallery_next_wrong
        jp   gallery_show

gallery_look:                   ; keep a key pressed for gallery_wait
        call look_at_keys
        or   a
        ret  z
        ld   (kept_key), a
        ret

gallery_wait:                   ; return when the next picture is due
        ld   a, (gallery_frames)
        ld   b, a
gallery_wait_frame:             ; b = frames left
        push bc
        halt
        call gallery_look
        pop  bc
        ld   hl, kept_key
        ld   a, (hl)
        ld   (hl), 0
        cp   KEY_SPACE
        ret  z
        cp   KEY_WRONG
        jr   z, gallery_key_wrong
        cp   KEY_PAUSE
        jr   z, gallery_key_pause
        sub  KEY_1
        cp   3
        jr   nc, gallery_wait_on
        ld   b, WAIT_SLOW
        or   a
        jr   z, gallery_speed
        ld   b, WAIT_USUAL
        dec  a
        jr   z, gallery_speed
        ld   b, WAIT_FAST
gallery_speed:
        ld   a, b
        ld   (gallery_frames), a
gallery_wait_on:
        ld   a, KEYS_SPACE_TO_B
        in   a, (PORT_ULA)
        rra
        jr   c, gallery_wait_pause ; SPACE is up
        ld   a, b
        cp   WAIT_FAST
        jr   c, gallery_wait_pause
        ld   b, WAIT_FAST
gallery_wait_pause:
        ld   a, (gallery_paused)
        or   a
        jr   nz, gallery_wait_frame
        djnz gallery_wait_frame
        ret

gallery_key_pause:
        ld   hl, gallery_paused
        call gallery_toggle
        jr   gallery_wait_frame

gallery_key_wrong:
        ld   hl, gallery_wrong
        ld   b, GALLERY_COUNT
        xor  a
gallery_any_wrong:
        or   (hl)
        inc  hl
        djnz gallery_any_wrong
        or   a
        ld   hl, text_none_wrong
        jr   z, gallery_wait_message
        ld   hl, gallery_wrong_only
        ; and on: toggle, and show the next one at once

gallery_toggle:                 ; hl = 0 or 1 to become the other
        ld   a, (hl)
        xor  1
        ld   (hl), a
        ld   hl, text_paused
        ld   a, (gallery_paused)
        or   a
        jr   nz, gallery_message
        ld   hl, text_wrong_only
        ld   a, (gallery_wrong_only)
        or   a
        jr   nz, gallery_message
        ld   hl, text_no_message
gallery_message:
        jp   print_text         ; keeps b

gallery_wait_message:
        call print_text
        jp   gallery_wait
gallery_end:
