; learn_teach - learn a class from one more example
;
; A class owns every tenth picture. Its examples fill all its places: as they are, then slanted in four ways, and so on in turn.
; So a class of ten examples is counted as often as any other, its scores are comparable with theirs, and a pass (learn_pass)
; corrects it as it corrects them. A class whose places all hold examples of their own is left to learn_fix.
;
; In         hl = example, 13 bytes, not among learn_pictures;  a = class, 0..9;  learn_examples
; Out        the class's learn_examples, pictures, weights, and bias in learn_digits; or as learn_fix, where it has LEARN_OF_EACH
; Clobbers   af bc de hl ix
; T-states   705000 + 15900 * LEARN_OF_EACH, within 1 in 20: about a second
; Bytes      124
; Needs      LEARN_OF_EACH = pictures of a class, 1..227;  learn_pictures;  learn_examples = how many examples each class has,
;            u8, 0..LEARN_OF_EACH;  learn_unpack, learn_pack, learn_clear, learn_count, learn_weigh
; Writes     own code
learn_teach:
        ld   (learn_teach_class), a
        push hl
        call learn_place
        ld   a, (de)
        cp   LEARN_OF_EACH
        jr   z, learn_teach_full
        inc  a
        ld   (de), a
        ld   (learn_teach_examples), a
        ld   (learn_teach_first), hl
        ld   b, a
        ld   de, 130
        jr   learn_teach_place_next
learn_teach_place:                      ; hl = a place of the class, b = places from there to the example's
        add  hl, de
learn_teach_place_next:
        djnz learn_teach_place
        ex   de, hl
        pop  hl
        ld   bc, 13
        ldir
        call learn_clear
        ld   de, (learn_teach_first)
        ld   bc, LEARN_OF_EACH * 256
learn_teach_round:                      ; de = place to fill, b = places left, c = slant
        ld   hl, 0                      ; the class's first place
learn_teach_first: equ $ - 2
        ld   a, 0                       ; its examples
learn_teach_examples: equ $ - 1
learn_teach_next:                       ; hl = example, a = examples left in the round
        push af
        push bc
        push hl
        push de
        push bc
        ld   c, 1
        call learn_unpack
        pop  bc
        call learn_slant
        pop  de
        push de
        call learn_pack
        call learn_count
        pop  de
        pop  hl
        ld   bc, 130
        add  hl, bc
        ex   de, hl
        add  hl, bc
        ex   de, hl
        pop  bc
        pop  af
        dec  b
        jr   z, learn_teach_weigh
        dec  a
        jr   nz, learn_teach_next
        dec  c
        jp   p, learn_teach_round
        ld   c, 4
        jr   learn_teach_round
learn_teach_weigh:
        ld   a, 0                       ; the class
learn_teach_class: equ $ - 1
        jp   learn_weigh

learn_place:                            ; a = class; out: hl = its first place, de = where its examples are counted, b = 0, c = a
        ld   hl, learn_pictures - 13
        ld   de, 13
        ld   b, a
        inc  b
learn_place_next:
        add  hl, de
        djnz learn_place_next
        ex   de, hl
        ld   hl, learn_examples
        ld   c, a
        add  hl, bc
        ex   de, hl
        ret

learn_teach_full:                       ; c = class, the example on the stack
        pop  hl
        ld   a, c

; learn_fix - correct the weights until a picture is read as its class, but at most LEARN_FIXES times
;
; In         hl = picture, 13 bytes;  a = class, 0..9;  the weights, and the biases in learn_digits
; Out        the weights: as they were, if it is read right
; Clobbers   af bc de hl ix
; T-states   9900..320000, about 80000 for a drawing that is read wrong
; Bytes      35
; Needs      LEARN_FIXES;  learn_unpack, learn_code, learn_scores, learn_rival, learn_correct
learn_fix:
        push af
        ld   c, 1
        call learn_unpack
        ld   a, 1
        call learn_code
        pop  bc
        ld   c, b
        ld   b, LEARN_FIXES
learn_fix_next:                         ; c = class, b = corrections left
        push bc
        call learn_scores
        ld   c, 10
        call learn_rival
        pop  bc
        cp   c
        ret  z
        push bc
        call learn_correct
        pop  bc
        djnz learn_fix_next
        ret

; learn_forget - forget a class: its pictures become blank, and it is never read
;
; In         a = class, 0..9;  ten times, and nothing is known
; Out        the class's learn_examples, pictures, weights, and bias in learn_digits are 0
; Clobbers   af bc de hl
; T-states   27196 + 367 * LEARN_OF_EACH + 24 * a
; Bytes      51
; Needs      LEARN_OF_EACH, learn_pictures, learn_examples, learn_weight_page
learn_forget:
        call learn_place
        ld   a, c
        push af
        xor  a
        ld   (de), a
        ld   de, 117
        ld   c, LEARN_OF_EACH
learn_forget_picture:                   ; hl = picture, c = pictures left, a = 0, de = 117
        ld   b, 13
learn_forget_byte:
        ld   (hl), a
        inc  hl
        djnz learn_forget_byte
        add  hl, de
        dec  c
        jr   nz, learn_forget_picture
        ld   hl, learn_digits
        pop  bc
        ld   c, b
        ld   b, a
        add  hl, bc
        add  hl, bc
        add  hl, bc
        add  hl, bc
        ld   (hl), a
        inc  hl
        ld   (hl), a
        ld   a, c
        call learn_correct_page
        ld   h, d
        xor  a
        ld   l, a
        ld   e, a
        inc  e
        ld   bc, 5 * 256 - 1
        ld   (hl), a
        ldir
        ret

; learn_slant - slant a picture: half of it moves a pixel one way, half the other way, and the middle stays
;
; In         c = slant: 0 none;  1 columns 0..2 move up and columns 5..7 down;  2 the other way round;  3 rows 0..3 move to the left
;            and rows 7..10 to the right;  4 the other way round;  learn_rows, not moved
; Out        learn_rows
; Clobbers   af bc de hl
; T-states   44 if c = 0, 1515 if c = 1, 1499 if c = 2, 573 if c = 3, 588 if c = 4
; Bytes      87
learn_slant:
        ld   a, c
        sub  3
        jr   nc, learn_slant_rows
        inc  a
        jr   z, learn_slant_down
        inc  a
        ret  nz
        ld   hl, learn_rows + 22
        ld   de, 0 - 2
        jr   learn_slant_columns
learn_slant_down:
        ld   hl, learn_rows + 2
        ld   de, 2
learn_slant_columns:
        ld   bc, 11 * 256
learn_slant_column:                     ; hl = row, de = step to the next, c = columns 0..7 of the row before, b = rows left
        ld   a, (hl)
        push af
        xor  c
        and  31
        xor  c                          ; columns 0..2 of the row before
        ld   c, a
        add  hl, de
        ld   a, (hl)
        xor  c
        and  7
        xor  c                          ; columns 5..7 of the row after
        sbc  hl, de
        ld   (hl), a
        add  hl, de
        pop  af
        ld   c, a
        djnz learn_slant_column
        ret

learn_slant_rows:                       ; a = 0: rows 0..3 move to the left, 1: to the right
        ld   hl, learn_rows + 16
        ld   de, learn_rows + 9
        jr   z, learn_slant_row
        ld   hl, learn_rows + 2
        ld   de, learn_rows + 23
learn_slant_row:                        ; hl = first byte of four rows to move to the right, de = last byte of four for the left
        ld   b, 4
learn_slant_right:
        srl  (hl)
        inc  hl
        rr   (hl)
        res  6, (hl)
        inc  hl
        djnz learn_slant_right
        ex   de, hl
        ld   b, 4
learn_slant_left:
        sla  (hl)
        dec  hl
        rl   (hl)
        dec  hl
        djnz learn_slant_left
        ret
