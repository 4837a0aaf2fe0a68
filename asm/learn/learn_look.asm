; What a pass does first with a picture: moves it at random by up to a pixel, reads it, and corrects the weights if it is not well
; ahead; included where it is to run.
;
; In         hl = picture of digit c, 13 bytes;  learn_random, never 0
; Out        carry = the weights had to change;  bc, and hl on top of it, on the stack;  learn_random
; Clobbers   af bc de hl ix
        push bc
        push hl
        call learn_next_random
        ld   a, h
        call learn_side
        ld   b, a                       ; b = first row
        ld   a, l
        call learn_side
        ld   c, a                       ; c = first column
        pop  hl
        push hl
        push bc
        call learn_unpack
        pop  af                         ; a = first row
        call learn_code
        call learn_scores
        pop  hl
        pop  bc
        push bc
        push hl
        call learn_correct
