; The end of app_enter: shows the words of every screen, lights up the name of the one to show, and goes there.
;
; In         app_screen = key of the screen
; Clobbers   af bc de hl ix
; Needs      SCREENS;  app_screens: for each its key, what shows it, where its name lies in the last row, and the name's letters

KEYS_ROW_HIGH:  equ 0x5A        ; of the last row's attributes
KEYS_ROW_LOW:   equ 0xE0

app_show:
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
