; seed_epoch - learn from all pictures once, with a step after every ten
;
; In         hl = pictures, 8 bytes each;  de = their labels;  b = tens of pictures, 1..64;  a = not 0 for small steps
; Out        weights and velocities;  seed_taught = how many pictures taught something, u16
; Clobbers   af bc de hl ix
; T-states   about, a picture 35000 + 826 * active units; if it teaches, 2000 + 72 * active units, 905 a lesson's digit, 154 a lesson
;            and active unit, 296 an active unit that has news; a step 333400, or 455500 if it is small
; Bytes      43
; Writes     own code (seed_slow)
seed_epoch:
        call seed_pace
        push hl
        ld   hl, 0
        ld   (seed_taught), hl
        pop  hl
seed_epoch_ten:                         ; hl = picture, de = its label, b = tens left
        push bc
        ld   b, 10
seed_epoch_picture:
        push bc
        push hl
        push de
        ld   a, (de)
        ld   c, a
        call seed_learn
        pop  de
        inc  de
        pop  hl
        ld   bc, 8
        add  hl, bc
        pop  bc
        djnz seed_epoch_picture
        push hl
        push de
        call seed_step
        pop  de
        pop  hl
        pop  bc
        djnz seed_epoch_ten
        ret

; seed_step - what was learned changes the weights
;
; In         velocities of the digits, and what the filters were taught
; Out        weights, velocities and the filters' tables
; Clobbers   af bc de hl ix
; T-states   332258..333458; if steps are small, 453458..455858
; Bytes      9
; Writes     own code (seed_move_end)
seed_step:
        call seed_lessons
        call seed_move
        jp   seed_tables
