; learn_pass - look at all pictures once, each moved at random by up to a pixel, and correct the weights
;
; In         hl = pictures, 13 bytes each, the ten digits in turn;  b = tens of pictures, 1..227;  learn_random, never 0
; Out        learn_changed = how many changed the weights, u16;  learn_random
; Clobbers   af bc de hl ix
; T-states   for each picture about 10000 + 280 * inked patches, and 1185 + 156 * inked patches more if it changes the weights
; Bytes      78
learn_pass:
        ld   de, 0
        ld   (learn_changed), de
learn_pass_ten:                         ; hl = ten pictures, b = tens left
        ld   c, 0
learn_pass_picture:                     ; hl = picture of digit c
        include "learn_look.asm"        ; carry = the weights had to change
        jr   nc, learn_pass_right
        ld   hl, (learn_changed)
        inc  hl
        ld   (learn_changed), hl
learn_pass_right:
        pop  hl
        ld   de, 13
        add  hl, de
        pop  bc
        inc  c
        ld   a, c
        cp   10
        jr   nz, learn_pass_picture
        djnz learn_pass_ten
        ret

learn_side:                             ; a = random; out: a = 0 or 2, each one time in eight, else 1
        and  7
        ret  z
        cp   7
        ld   a, 1
        ret  nz
        inc  a
        ret

; learn_read - read the digit in a packed small picture
;
; In         hl = picture, 13 bytes;  the weights, and the biases in learn_digits
; Out        a = digit, de = its score;  learn_digits = for each digit its bias and its score
; Clobbers   af bc de hl ix
; T-states   9851..10170 + 280 * inked patches - carries into the upper bytes of the scores
; Bytes      18
learn_read:
        ld   c, 1
        call learn_unpack
        ld   a, 1
        call learn_code
        call learn_scores
        ld   c, 10
        jp   learn_rival

; learn_next_random - the next of 65,535 numbers in a random order
;
; In         learn_random, never 0
; Out        hl = learn_random = the next number
; Clobbers   af hl
; T-states   98
; Bytes      21
learn_next_random:
        ld   hl, (learn_random)
        include "xorshift_u16.asm"
        ld   (learn_random), hl
        ret

; learn_count_all - learn from all pictures by counting
;
; In         hl = pictures, 13 bytes each, the ten digits in turn;  b = tens of pictures, 1..227
; Out        the weights of all digits, and their biases in learn_digits
; Clobbers   af bc de hl ix
; T-states   13840 for each picture and about 711000 for each digit
; Bytes      50
learn_count_all:
        ld   c, 0
learn_count_digit:                      ; hl = first picture of digit c, b = pictures of a digit
        push bc
        push hl
        push hl
        push bc
        call learn_clear
        pop  bc
        pop  hl
learn_count_picture:                    ; hl = picture, b = pictures left
        push bc
        push hl
        ld   c, 1
        call learn_unpack
        call learn_count
        pop  hl
        ld   de, 130
        add  hl, de
        pop  bc
        djnz learn_count_picture
        pop  hl
        pop  bc
        push bc
        push hl
        ld   a, c
        call learn_weigh
learn_count_digit_end:
        pop  hl
        ld   de, 13
        add  hl, de
        pop  bc
        inc  c
        ld   a, c
        cp   10
        jr   nz, learn_count_digit
        ret
