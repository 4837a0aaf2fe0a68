; learn_scores - the ten scores of the picture in learn_line
;
; In         learn_line;  learn_digits = for each digit its bias, u16, and room for its score
; Out        learn_digits = for each digit its bias and its score, u16, low byte first
; Clobbers   af bc de hl
; T-states   1732 + 260 * inked patches - carries into the upper bytes of the scores
; Bytes      526
; Needs      learn_line.asm, learn_weight_page
learn_line:                             ; h = weight page, d:a = sum
        include "learn_line.asm"
learn_line_end:                         ; h = weight page of the next digit, bc = where the score goes
        ld   (bc), a
        inc  bc
        ld   a, d
        ld   (bc), a
        inc  bc
        ld   a, h
        cp   learn_weight_page / 256 + 50
        jr   nz, learn_scores_digit
        ret

learn_scores:
        ld   h, learn_weight_page / 256
        ld   bc, learn_digits
learn_scores_digit:                     ; h = weight page of a digit, bc = its bias
        ld   a, (bc)
        ld   e, a
        inc  bc
        ld   a, (bc)
        ld   d, a
        inc  bc
        ld   a, e
        jp   learn_line
