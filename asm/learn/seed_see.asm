; seed_see - a picture becomes patterns of three pixels, in the code that looks them up
;
; In         hl = picture, 8 bytes
; Out        seed_pattern_page[8 * row + column] = twice the pattern, columns 0..5;  the operands of seed_filters
; Clobbers   af c hl
; T-states   3456
; Bytes      844
; Needs      seed_patterns.asm
; Writes     own code (seed_filters)
seed_see:
        include "seed_patterns.asm"
        ret
