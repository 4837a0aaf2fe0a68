; The program: four screens, each left for another at the press of its key, or for BASIC with BREAK.
;
; The including source provides
;   classify             hl = picture -> a = digit; changes af bc de hl ix; scores left in
;   scores               ten words, u16
;   classify_haste       a byte: HASTE = return HASTE instead of a digit where that would take long, with the scores so far
;   gallery_pictures     GALLERY_COUNT packed pictures, at most 99, and gallery_labels, the true digits
;   challenge_pictures   CHALLENGE_COUNT packed pictures, and challenge_labels
;   text_...             the words on the screens
; and includes this file first, at the address that BASIC calls, then enter, screens and leave, and app/timing and app/memory where the ULA does not slow the
; processor, at 0x8000 or above. No port is written but the ULA's.

KEY_GALLERY:    equ 71          ; G
KEY_DRAW:       equ 68          ; D
KEY_CHALLENGE:  equ 67          ; C
KEY_INFO:       equ 73          ; I
SCREENS:        equ 4
HASTE:          equ 255
NET_THINKS:     equ 1           ; the net may take long, and so is asked in haste first

; app_start - show the gallery, and whatever its keys lead to, until BREAK
; Out        bc = pictures of the gallery read right since the first one, so that PRINT USR shows it
; Clobbers   af bc de hl ix     (the alternate registers, and so BASIC's hl', are never touched)
; Bytes      136                (with enter, the table of screens, and leave)
; Needs      IM 1, interrupts on, iy as BASIC keeps it
app_start:
        ld   hl, memory
        ld   bc, MEMORY_BYTES - 1
        call clear_bytes
        call clear_canvas
        ld   (app_sp), sp
        xor  a
        out  (PORT_ULA), a      ; black border
        ld   hl, PEN_START
        ld   (pen_y), hl        ; and pen_x
        ld   a, PEN_START_SIZE
        ld   (pen_size), a
        ld   a, KEY_GALLERY
app_enter:                      ; a = key of the screen to show, from wherever the last one was left
        ld   sp, (app_sp)
        ld   (app_screen), a
