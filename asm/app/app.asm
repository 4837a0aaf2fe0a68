; The program: four screens, each left for another at the press of its key, or for BASIC with BREAK.
;
; The including source provides
;   classify             hl = picture -> a = digit; changes af bc de hl ix; scores left in
;   scores               ten words, u16
;   gallery_pictures     GALLERY_COUNT packed pictures, at most 99, and gallery_labels, the true digits
;   challenge_pictures   CHALLENGE_COUNT packed pictures, and challenge_labels
;   text_...             the words on the screens
; and includes this file first, at the address that BASIC calls, and app/timing and app/memory where the ULA does not slow the
; processor, at 0x8000 or above. No port is written but the ULA's.

KEY_GALLERY:    equ 71          ; G
KEY_DRAW:       equ 68          ; D
KEY_CHALLENGE:  equ 67          ; C
KEY_INFO:       equ 73          ; I
SCREENS:        equ 4
KEYS_ROW_HIGH:  equ 0x5A        ; of the last row's attributes
KEYS_ROW_LOW:   equ 0xE0

; app_start - show the gallery, and whatever its keys lead to, until BREAK
; Out        bc = pictures of the gallery read right since the first one, so that PRINT USR shows it
; Clobbers   af bc de hl ix     (the alternate registers, and so BASIC's hl', are never touched)
; Bytes      136                (with the table of screens)
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
        call clear_screen
        ld   hl, text_every
        call print_text
        ld   a, (app_screen)
        call app_find
        ld   e, (hl)
        inc  hl
        ld   d, (hl)
        inc  hl
        push de                 ; go there afterwards
        ld   e, (hl)
        inc  hl
        ld   c, (hl)            ; c = letters of the screen's name
        ld   d, KEYS_ROW_HIGH
        ex   de, hl             ; hl = attribute of the first
        ld   b, 1
        ld   a, BRIGHT + WHITE
        jp   fill_colour

app_find:                       ; a = key; z = it has a screen, hl = where the address lies that shows it
        ld   hl, app_screens
        ld   b, SCREENS
app_find_next:
        cp   (hl)
        inc  hl
        ret  z
        ld   de, 4
        add  hl, de
        djnz app_find_next
        or   a
        ret                     ; z clear

app_screens:                    ; key, what shows the screen, where its name lies in the last row, letters
        defb KEY_GALLERY
        defw gallery
        defb KEYS_ROW_LOW, 7
        defb KEY_DRAW
        defw draw
        defb KEYS_ROW_LOW + 10, 4
        defb KEY_CHALLENGE
        defw challenge
        defb KEYS_ROW_LOW + 17, 9
        defb KEY_INFO
        defw info
        defb KEYS_ROW_LOW + 28, 4

app_leave:                      ; to BASIC, from wherever BREAK was seen
        ld   sp, (app_sp)
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
