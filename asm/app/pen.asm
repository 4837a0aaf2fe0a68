; The pen: a square of cells that keys or a joystick move over the canvas, and that leaves or takes away what it covers.

PEN_START:      equ 257 * 26    ; near the middle
PEN_START_SIZE: equ 3
PEN_LARGEST:    equ 4
PEN_WAIT:       equ 6           ; frames between the first step and the second: a tap moves by one cell
STICK_SINCLAIR: equ 1
STICK_KEMPSTON: equ 2
STICKS:         equ 3

; read_pen - read the keys QAOP and SPACE, and the cursor keys or the joystick chosen
;
; A Kempston joystick is read only after it was chosen, for without one its port answers with anything. More than five bits,
; which none can say, count as nothing; opposite directions cancel out in move_pen.
;
; Out        c = 1 right + 2 left + 4 down + 8 up + 16 fire
; Clobbers   f a b hl
; Bytes      90                 (with the tables of keys)
read_pen:
        ld   hl, pen_keys
        call read_five
        push bc
        ld   a, (pen_stick)
        cp   STICK_KEMPSTON
        jr   z, read_kempston
        ld   hl, pen_cursor_keys
        cp   STICK_SINCLAIR
        jr   nz, read_pen_stick
        ld   hl, pen_sinclair_keys
read_pen_stick:
        call read_five
read_pen_both:
        ld   a, c
        pop  bc
        or   c
        ld   c, a
        ret
read_kempston:
        xor  a                  ; the port's high byte
        in   a, (PORT_KEMPSTON)
        cp   32
        jr   c, read_kempston_good
        xor  a
read_kempston_good:
        ld   c, a
        jr   read_pen_both

read_five:                      ; hl = five half rows and bits, the highest bit of c first; changes f a b
        ld   bc, 0x0500
read_five_next:
        ld   a, (hl)
        inc  hl
        in   a, (PORT_ULA)
        cpl
        and  (hl)
        inc  hl
        add  a, 255             ; carry = the key is down
        rl   c
        djnz read_five_next
        ret

pen_keys:                       ; SPACE Q A O P
        defb KEYS_SPACE_TO_B, 1, KEYS_Q_TO_T, 1, KEYS_A_TO_G, 1, KEYS_P_TO_Y, 2, KEYS_P_TO_Y, 1
pen_cursor_keys:                ; 0 7 6 5 8
        defb KEYS_0_TO_6, 1, KEYS_0_TO_6, 8, KEYS_0_TO_6, 16, KEYS_1_TO_5, 16, KEYS_0_TO_6, 4
pen_sinclair_keys:              ; 0 9 8 6 7
        defb KEYS_0_TO_6, 1, KEYS_0_TO_6, 2, KEYS_0_TO_6, 4, KEYS_0_TO_6, 16, KEYS_0_TO_6, 8
pen_keys_end:

; find_pen - find the cells that the pen covers
; Out        hl = address of the first byte;  c = its number in the row;  de = cells covered in it and the next
; Clobbers   f a b
; Bytes      29
find_pen:
        ld   bc, (pen_y)        ; b = column, c = row
        call find_cells
        ld   a, (pen_size)
        ld   de, 0
find_pen_cell:                  ; a = cells of the pen's width to add
        scf
        rr   d
        dec  a
        jr   nz, find_pen_cell
        inc  b
        jr   find_pen_next
find_pen_shift:                 ; b = cells to shift by + 1
        srl  d
        rr   e
find_pen_next:
        djnz find_pen_shift
        ret

; show_pen - show the canvas under the pen, and the pen, a grey square
; Clobbers   f a bc de hl ix
; Bytes      21                 (with hide_pen)
show_pen:
        call find_pen
show_pen_cells:
        ld   a, (pen_size)
        ld   b, a
        ld   a, (pen_y)
        jp   show_cells
hide_pen:                       ; the same without the pen
        call find_pen
        ld   de, 0
        jr   show_pen_cells

; use_pen - set the cells that the pen covers, or take them away
; Writes     the canvas; canvas_changed = 1 if a cell changes
; Clobbers   f a bc de hl
; Bytes      45
use_pen:
        call find_pen
        ld   a, (pen_size)
        ld   b, a
use_pen_row:                    ; hl = first byte, b = rows left
        ld   a, d
        call use_pen_byte
        inc  hl
        ld   a, e
        call use_pen_byte
        push de
        ld   de, CANVAS_ROW_BYTES - 1
        add  hl, de
        pop  de
        djnz use_pen_row
        ret
use_pen_byte:                   ; a = cells of the pen, hl = byte of the canvas; changes f a c
        ld   c, a
        ld   a, (pen_erases)
        and  c                  ; cells to take away
        push af
        ld   a, c
        or   (hl)
        ld   c, a
        pop  af
        xor  c
        cp   (hl)
        ret  z
        ld   (hl), a
        ld   a, 1
        ld   (canvas_changed), a
        ret
use_pen_end:

; move_pen - move and use the pen as the keys say
;
; The first step comes at once, the next after PEN_WAIT frames. From then on the pen moves a cell in every frame, and in every
; second one while it is used, so that it can be steered.
;
; In         b = frames since the last call;  c = 1 right + 2 left + 4 down + 8 up + 16 fire
; Clobbers   f a bc de hl ix
; Bytes      133
move_pen:
        call colour_pen
        ld   a, c
        or   a
        jr   nz, move_pen_on
        ld   (pen_held), a
        ret
move_pen_on:
        ld   a, c
        and  15
        jr   nz, move_pen_frames
        ld   (pen_held), a
        jr   move_pen_still
move_pen_frames:
        ld   ixl, 0             ; ixl = 1 once the pen has moved
move_pen_frame:                 ; b = frames left
        ld   hl, pen_held
        ld   a, (hl)
        inc  (hl)
        or   a
        jr   z, move_pen_step
        sub  PEN_WAIT
        jr   c, move_pen_next
        jr   z, move_pen_step
        ld   (hl), PEN_WAIT
        bit  4, c
        jr   nz, move_pen_next
move_pen_step:
        push bc
        bit  4, c
        call nz, use_pen
        call hide_pen
        pop  bc
        ld   ixl, 1
        ld   hl, pen_x
        ld   a, c
        call move_along
        dec  hl                 ; pen_y
        ld   a, c
        rrca
        rrca
        call move_along
move_pen_next:
        djnz move_pen_frame
        ld   a, ixl
        or   a
        ret  z
move_pen_still:
        bit  4, c
        call nz, use_pen
        jp   show_pen

move_along:                     ; hl = pen_x or pen_y, a = 1 onwards + 2 back; changes f a d
        rrca
        jr   nc, move_along_back
        ld   d, a
        ld   a, (pen_size)
        add  a, (hl)
        cp   CANVAS_CELLS
        jr   nc, move_along_stop
        inc  (hl)
move_along_stop:
        ld   a, d
move_along_back:
        rrca
        ret  nc
        ld   a, (hl)
        or   a
        ret  z
        dec  (hl)
        ret

colour_pen:                     ; c = 16 fire: the frame is cyan, or white while the pen draws; red while it erases
        ld   a, (pen_erases)
        or   a
        ld   a, CYAN
        jr   z, colour_pen_use
        ld   a, RED
colour_pen_use:
        bit  4, c
        jr   z, colour_pen_frame
        or   BRIGHT + RED       ; cyan and red are white
colour_pen_frame:
        ld   hl, frame_colour
        cp   (hl)
        ret  z
        push bc
        call colour_frame
        pop  bc
        ret
move_pen_end:
