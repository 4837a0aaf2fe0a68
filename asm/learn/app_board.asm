; The blackboard of the lesson: what is going on, a lamp for every ten pictures, and how many were read right, as a curve.

AT_PASS:        equ TOP_THIRD + 1 * 32 + 17
AT_SEEN:        equ TOP_THIRD + 3 * 32 + 11
AT_READ:        equ TOP_THIRD + 4 * 32 + 11
AT_SHARE:       equ TOP_THIRD + 5 * 32 + 11
AT_TIME:        equ TOP_THIRD + 6 * 32 + 11
AT_NAME:        equ TOP_THIRD + 4 * 32 + 22
BOARD_LINE:     equ 16          ; where a picture is shown
BOARD_COLUMN:   equ 25
BOARD_COLOURS:  equ ATTRIBUTES + 2 * 32 + BOARD_COLUMN - 1
MARKS_TOP:      equ 136         ; screen lines of the lamps
MARKS_BOTTOM:   equ 176
MARKS:          equ ATTRIBUTES + 17 * 32
MARK_ASLEEP:    equ BLUE
MARK_WORKING:   equ BRIGHT + WHITE
CURVE_TOP:      equ 64          ; screen lines of the curve: four for one in a hundred
CURVE_LINES:    equ 64
CURVE_COLUMN:   equ 2
CURVE_COLOURS:  equ ATTRIBUTES + 8 * 32
COUNTS_COLOUR:  equ BRIGHT + CYAN
FRAME_TENTHS:   equ 13086       ; tenths of a second in a frame of 69,888 T-states at 3.5 MHz, * 65536

; draw_board - draw what stays during the lesson
; Clobbers   af bc de hl ix
; Bytes      43                (falls into sleep_marks)
draw_board:
        ld   hl, text_board
        call print_text
        ld   c, MARKS_TOP
draw_board_line:                ; c = screen line
        ld   a, c
        and  7
        cp   7
        jr   z, draw_board_gap
        ld   a, c
        call line_address
        ld   b, 32
draw_board_lamp:
        ld   (hl), 0xFE
        inc  l
        djnz draw_board_lamp
draw_board_gap:
        inc  c
        ld   a, c
        cp   MARKS_BOTTOM
        jr   nz, draw_board_line
        ld   hl, BOARD_COLOURS
        ld   bc, 6 * 256 + 7
        ld   a, BRIGHT + BLUE * PAPER + WHITE
        call fill_colour
        ; and on: the lamps go to sleep

; sleep_marks - make all lamps dark
; Clobbers   f a bc de hl
; Bytes      14
sleep_marks:
        ld   hl, MARKS
        ld   de, MARKS + 1
        ld   bc, MARKS_COUNT - 1
        ld   (hl), MARK_ASLEEP
        ldir
        ret

; draw_counts - clear the middle of the screen for the counts
; Clobbers   f a bc de hl
; Bytes      26
draw_counts:
        ld   hl, MIDDLE_THIRD
        ld   bc, 2047
        call clear_bytes
        ld   hl, text_counts
        call print_text
        ld   hl, CURVE_COLOURS
        ld   bc, 8 * 256 + 32
        ld   a, COUNTS_COLOUR
        jp   fill_colour

; draw_curve - draw the curve as far as it goes, in place of the counts
; Clobbers   f a bc de hl
; Bytes      95                (with its colours)
draw_curve:
        ld   hl, MIDDLE_THIRD
        ld   bc, 2047
        call clear_bytes
        ld   hl, text_curve
        call print_text
        ld   de, curve_colours
        ld   hl, CURVE_COLOURS
draw_curve_row:                 ; de = colour, hl = first cell of the row
        ld   a, (de)
        inc  de
        push de
        ld   bc, 1 * 256 + 32
        call fill_colour        ; hl = first cell of the next row
        pop  de
        ld   a, l
        or   a
        jr   nz, draw_curve_row
        ld   b, 3
        ld   c, CURVE_TOP + 20  ; 95, 90 and 85 in a hundred
draw_curve_grid:                ; c = screen line, b = lines left
        push bc
        ld   a, c
        call line_address
        inc  l
        inc  l
        ld   b, 32 - CURVE_COLUMN
draw_curve_dots:
        ld   (hl), 0x11
        inc  l
        djnz draw_curve_dots
        pop  bc
        ld   a, c
        add  a, 20
        ld   c, a
        djnz draw_curve_grid
        ld   a, (state_points)
        or   a
        ret  z
        ld   hl, state_curve
        ld   bc, 0
draw_curve_point:               ; hl = point, c = its number, a = points left
        push af
        push bc
        push hl
        ld   a, (hl)
        call plot_hundred
        pop  hl
        pop  bc
        pop  af
        inc  hl
        inc  c
        dec  a
        jr   nz, draw_curve_point
        ret

curve_colours:                  ; a row of cells is two in a hundred
        defb BRIGHT + GREEN, BRIGHT + GREEN, BRIGHT + CYAN, BRIGHT + CYAN
        defb BRIGHT + YELLOW, BRIGHT + YELLOW, BRIGHT + RED, BRIGHT + RED

; plot_hundred - draw a point of the curve as a column of pixels
; In         a = of a hundred pictures, so many were read wrong;  c = number of the point, 0..239
; Clobbers   f a bc de hl
; Bytes      48
plot_hundred:
        cp   CURVE_LINES / 4
        jr   c, plot_hundred_top
        ld   a, CURVE_LINES / 4 - 1
plot_hundred_top:
        add  a, a
        add  a, a
        add  a, CURVE_TOP
        ld   e, a               ; e = screen line
        ld   a, c
        and  7
        ld   b, a
        inc  b
        ld   a, 1
plot_hundred_bit:
        rrca
        djnz plot_hundred_bit
        ld   d, a               ; d = pixel
        ld   a, c
        rrca
        rrca
        rrca
        and  31
        add  a, CURVE_COLUMN
        ld   c, a               ; c = column
plot_hundred_line:
        ld   a, e
        call line_address
        ld   a, l
        add  a, c
        ld   l, a
        ld   a, (hl)
        or   d
        ld   (hl), a
        inc  e
        ld   a, e
        cp   CURVE_TOP + CURVE_LINES
        jr   nz, plot_hundred_line
        ret

; show_progress - show how far the stage is, and the time
; Clobbers   f a bc de hl ix
; Bytes      27                (falls into show_clock)
show_progress:
        ld   a, BRIGHT + WHITE
        ld   (text_colour), a
        ld   hl, (lesson_seen)
        ld   de, AT_SEEN
        call print_four
        ld   a, (state_stage)
        or   a
        ld   hl, (lesson_right)
        ld   de, AT_READ
        call nz, print_four
        ; and on: the time

; show_clock - show what learning has taken so far
; Clobbers   f a bc de hl ix
; Bytes      34
show_clock:
        ld   a, (SYS_FRAMES)
        ld   hl, lesson_frame
        ld   b, (hl)
        ld   (hl), a
        sub  b
        ld   e, a
        ld   d, 0
        ld   hl, (state_frames)
        add  hl, de
        ld   (state_frames), hl
        ld   de, FRAME_TENTHS
        call scale_units
        ld   bc, 256 * 4 + DOT
        ld   de, AT_TIME - 1
        jp   print_decimal

; show_share - show the share read right in the last whole pass, if there was one
; Clobbers   f a bc de hl ix
; Bytes      24
show_share:
        ld   a, (state_stage)
        cp   2
        ret  c
        ld   hl, (state_right)
        ld   de, SHARE_TENTHS
        call scale_units
        ld   bc, 256 * 4 + DOT
        ld   de, AT_SHARE - 1
        jp   print_decimal

; print_four - print a number in four places
; In         hl = number, 0..9999;  de = screen address of the first cell
; Out        de = screen address after the last cell
; Clobbers   f a bc hl ix
; Bytes      13
print_four:
        ld   b, 3
        ld   ix, power_10000 + 2
        call print_places
        ld   a, l
        jp   print_digit
app_board_end:
