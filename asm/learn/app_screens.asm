; The program's screens.

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
