; The program: screens, each left for another at the press of its key, or for BASIC with BREAK.

KEY_MENU:       equ 77          ; M
KEY_LEARN:      equ 76          ; L
KEY_READ:       equ 82          ; R
KEY_DRAW:       equ 68          ; D
KEY_SAVE:       equ 83          ; S
KEY_FETCH:      equ 70          ; F
KEY_TEACH:      equ 75          ; K
MAGENTA:        equ 3
KEY_ENTER:      equ 13
KEY_SPACE:      equ 32
SCREENS:        equ 7
KEYS_ROW_HIGH:  equ 0x5A        ; of the last row's attributes
KEYS_ROW_LOW:   equ 0xE0

; app_start - show the menu, and whatever its keys lead to, until BREAK
; Out        bc = test pictures read right since the first one, so that PRINT USR shows it
; Clobbers   af bc de hl ix
; Bytes      151               (with the table of screens)
; Needs      IM 1, interrupts on, iy as BASIC keeps it
app_start:
        ld   hl, memory
        ld   bc, MEMORY_BYTES - 1
        call clear_bytes
        call clear_canvas
        ld   (app_sp), sp
        ld   hl, PEN_START
        ld   (pen_y), hl        ; and pen_x
        ld   a, PEN_START_SIZE
        ld   (pen_size), a
        ld   a, KEY_MENU
app_enter:                      ; a = key of the screen to show, from wherever the last one was left
        ld   sp, (app_sp)
        ld   (app_screen), a
        xor  a
        out  (PORT_ULA), a      ; black border
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
        defb KEY_MENU
        defw menu
        defb KEYS_ROW_LOW, 4
        defb KEY_LEARN
        defw lesson
        defb KEYS_ROW_LOW + 5, 5
        defb KEY_READ
        defw read
        defb KEYS_ROW_LOW + 11, 4
        defb KEY_DRAW
        defw draw_digits
        defb KEYS_ROW_LOW + 16, 4
        defb KEY_SAVE
        defw save
        defb KEYS_ROW_LOW + 21, 4
        defb KEY_FETCH
        defw fetch
        defb KEYS_ROW_LOW + 26, 5
        defb KEY_TEACH
        defw teach
        defb KEYS_ROW_LOW + 16, 4

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
app_start_end:
