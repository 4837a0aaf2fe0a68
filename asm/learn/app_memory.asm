; The program's variables, all zero when it starts; then what has been learned, which RUN keeps and a tape can save.

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
scores:
        defs 20                 ; of the picture read last
app_right:
        defb 0                  ; test pictures read right since the first one
app_shown:
        defb 0                  ; test pictures shown since the first one
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
lesson_seen:
        defw 0                  ; pictures seen in this stage
lesson_right:
        defw 0                  ; of which so many were read right
lesson_wrong:
        defb 0                  ; of the last ten, so many were read wrong
lesson_hundred:
        defb 0                  ; and of this hundred
lesson_tens:
        defb 0                  ; tens of this hundred still to come
lesson_shown:
        defb 0                  ; digit to show of the next ten
lesson_frame:
        defb 0                  ; the ROM's count at the last look
lesson_colour:
        defb 0                  ; of the digit that is counted
tape_err_sp:
        defw 0                  ; BASIC's ERR_SP
tape_spoils:
        defb 0                  ; 1 = what had been learned is being loaded over
small:
        defs 13                 ; the drawing, shrunk
picture:
        defs 112                ; the drawing as the board makes it, or a header from tape
memory_end:
STATE_BYTES:    equ 48 + CURVE_POINTS
MEMORY_BYTES:   equ memory_end - memory

        defs learn_weight_page - STATE_BYTES - $
state:                          ; what has been learned, down to the last weight
state_stage:
        defb 0                  ; 0 nothing, 1 counts, 2 and more: passes + 1
state_points:
        defb 0                  ; hundreds of pictures in the curve
state_frames:
        defw 0                  ; what learning has taken
state_right:
        defw 0                  ; pictures read right in the last whole pass
learn_random:
        defw 1
learn_digits:                   ; bias and score of each digit, u16
        defs 40
state_curve:
        defs CURVE_POINTS       ; of a hundred pictures, so many were read wrong
state_end:
