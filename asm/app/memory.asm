; The program's variables, all zero when it starts, where the ULA does not slow them.

memory:
app_screen:
        defb 0                  ; key of the screen shown
keys_last:
        defb 0                  ; key down at the last look, 0 for none
keys_break:
        defb 0                  ; looks in a row that saw BREAK
text_colour:
        defb 0                  ; attribute of the characters printed
read_colour:
        defb 0                  ; attribute of the digit read
other_colour:
        defb 0                  ; and of the true one, or the second
bar_lowest:
        defw 0                  ; lowest score
bar_halvings:
        defb 0                  ; how often a score is halved, and what it is worth then in 1/256 pixel
bar_worth:
        defw 0
bar_lengths:
        defs 10                 ; pixels, one byte a digit
bar_shown:
        defs 10                 ; pixels that are on the screen
app_right:
        defb 0                  ; gallery pictures read right since the first one
app_shown:
        defb 0                  ; gallery pictures shown since the first one
gallery_index:
        defb 0                  ; picture on the screen
gallery_frames:
        defb 0                  ; how long each stays
kept_key:
        defb 0                  ; key pressed, to be obeyed
gallery_paused:
        defb 0                  ; 1 = it stays
gallery_wrong_only:
        defb 0                  ; 1 = those read wrong, again and again
gallery_wrong:
        defs GALLERY_COUNT      ; 1 = read wrong
challenge_index:
        defb 0                  ; picture on the screen
challenge_turn:
        defb 0                  ; pictures answered
challenge_yours:
        defb 0                  ; of which the player named so many right
challenge_its:
        defb 0                  ; and the net
pen_y:
        defb 0                  ; top row of the pen, in cells of the canvas
pen_x:
        defb 0                  ; its left column
pen_size:
        defb 0                  ; cells along each side
pen_erases:
        defb 0                  ; 255 = it takes cells away
pen_stick:
        defb 0                  ; 0 cursor keys, 1 Sinclair joystick, 2 Kempston joystick
pen_held:
        defb 0                  ; frames since a direction was first held, counting 6 and 7 again and again
pen_frame:
        defb 0                  ; the ROM's count at the last look
frame_colour:
        defb 0                  ; attribute of the frame
draw_turn:
        defb 0                  ; readings of the drawing
draw_guess:
        defw 0                  ; digit shown as read, and second
canvas_changed:
        defb 0                  ; 1 = it is not what was read last
picture_above:
        defs 5                  ; a blank row, and a byte to unpack to
picture:
        defs 112                ; the picture shown, or the drawing as the net sees it
memory_end:
app_sp:
        defw 0                  ; where BASIC's return address lies

MEMORY_BYTES:   equ memory_end - memory
