; seed_fill - the active units become machine code, which adds up a digit's score
;
; In         seed_list_page
; Out        seed_line, filled from its last slot upwards
; Clobbers   af bc de hl
; T-states   103 + 120 * active units
; Bytes      38
; Writes     own code (seed_line, seed_scores_entry)
seed_fill:
        ld   de, seed_list_page
        ld   hl, seed_line_end - 10     ; operand of the last slot
        ld   bc, 0 - 15
seed_fill_unit:                         ; de = active unit, hl = operand of the next slot to fill, bc = from its level to the slot before
        ld   a, (de)
        cp   255
        jr   z, seed_fill_end
        ld   (hl), a
        inc  de
        inc  hl
        inc  hl
        inc  hl
        inc  hl
        ld   a, (de)
        or   seed_product_page / 256
        ld   (hl), a
        add  hl, bc
        inc  de
        inc  de
        inc  de
        jr   seed_fill_unit
seed_fill_end:
        ld   bc, 10
        add  hl, bc
        ld   (seed_scores_entry), hl
        ret

; seed_scores - the ten scores of the picture in seed_line
;
; In         seed_line
; Out        seed_score = for each digit its score, u16: 32768 more than it is in 1/1024
; Clobbers   af bc de hl ix
; T-states   1197 + 580 * active units
; Bytes      1218
; Needs      seed_slots.asm
seed_scores:
        ld   d, seed_dense_page / 256
seed_scores_digit:                      ; d = page of a digit's weights
        ld   ix, 0x8000
        jp   seed_line_end
seed_scores_entry: equ $ - 2
seed_line:                              ; d = page of weights, ix = sum
        include "seed_slots.asm"
seed_line_end:
        push ix
        pop  bc
        ld   a, d
        add  a, a
        add  a, 126                     ; 2 * 0x81 + 126 = 0x180, and scores begin at 0x80 in their page
        ld   l, a
        ld   h, seed_score / 256
        ld   (hl), c
        inc  l
        ld   (hl), b
        inc  d
        ld   a, d
        cp   seed_dense_page / 256 + 10
        jp   nz, seed_scores_digit
        ret
