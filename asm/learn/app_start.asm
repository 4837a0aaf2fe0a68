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

; app_start - show the menu, and whatever its keys lead to, until BREAK
; Out        bc = test pictures read right since the first one, so that PRINT USR shows it
; Clobbers   af bc de hl ix
; Bytes      151               (with enter, the table of screens, and leave)
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
