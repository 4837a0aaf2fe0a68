; seed_move - all velocities lose a quarter of themselves, and all weights move by what is left
;
; In         weights and velocities;  seed_slow = set by seed_pace
; Out        weights and velocities
; Clobbers   af bc de hl
; T-states   247011..248211; if steps are small, 368211..370611
; Bytes      98
; Writes     own code (seed_move_end)
seed_move:
        ld   hl, seed_filters_velocity_page
        ld   d, seed_filters_page / 256
        ld   a, 120
        call seed_move_page
seed_move_digit:                        ; h = page of velocities, d = page of weights
        ld   a, 108
        call seed_move_page
        ld   a, h
        cp   seed_filters_velocity_page / 256 + 11
        jr   nz, seed_move_digit
        ret

seed_move_page:                         ; h = page of velocities, d = page of weights, a = how many; out: l = 0, h and d one more
        ld   (seed_move_end), a
        ld   l, 0
seed_move_next:                         ; hl = velocity, its upper byte
        ld   b, (hl)
        set  7, l
        ld   c, (hl)
        ld   e, l
        ld   a, c
        add  a, 2
        jr   nc, seed_move_quarter
        inc  b
seed_move_quarter:
        sra  b
        rra
        sra  b
        rra
        ld   c, a                       ; bc = a quarter of the velocity, rounded
        ld   a, (hl)
        sub  c
        ld   (hl), a
        ld   c, a
        res  7, l
        ld   a, (hl)
        sbc  a, b
        ld   (hl), a
        ld   b, a                       ; bc = velocity
seed_slow:
        jr   seed_move_weight
        call seed_move_fade
seed_move_weight:
        ld   a, (de)
        add  a, c
        ld   (de), a
        ld   e, l
        ld   a, (de)
        adc  a, b
        ld   (de), a
        inc  l
        ld   a, l
        cp   0
seed_move_end: equ $ - 1
        jp   nz, seed_move_next
        ld   l, 0
        inc  h
        inc  d
        ret

seed_move_fade:                         ; bc = velocity; out: bc = its sixteenth, rounded
        ld   a, c
        add  a, 8
        jr   nc, seed_move_sixteenth
        inc  b
seed_move_sixteenth:
        sra  b
        rra
        sra  b
        rra
        sra  b
        rra
        sra  b
        rra
        ld   c, a
        ret

; seed_pace - choose how far weights move
;
; In         a = 0: by the velocities, or not 0: by a sixteenth of them
; Clobbers   af
; T-states   46 if a = 0, else 45
; Bytes      10
; Writes     own code (seed_slow)
seed_pace:
        or   a
        ld   a, 3                       ; jr over the call
        jr   z, seed_pace_set
        xor  a                          ; jr to the call
seed_pace_set:
        ld   (seed_slow + 1), a
        ret
