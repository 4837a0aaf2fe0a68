; The program's screens.

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
