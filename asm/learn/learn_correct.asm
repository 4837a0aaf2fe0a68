; learn_rival - the greatest of ten scores but one; the first of equals wins
;
; In         c = digit to leave out, or 10;  learn_digits with the scores, u15
; Out        a = digit of the greatest score, de = that score
; Clobbers   af b de hl ix
; T-states   979..1298: 29 for each score that is greater than all before it
; Bytes      46
learn_rival:
        ld   hl, learn_digits + 2
        ld   de, 0
        ld   ixl, 10                    ; digit 0, unless that is left out
        ld   a, c
        or   a
        jr   nz, learn_rival_begin
        dec  ixl
learn_rival_begin:
        ld   b, 10
learn_rival_next:                       ; de = greatest score so far, ixl = 10 - its digit, b = 10 - digit of the score at hl
        ld   a, 10
        sub  b
        cp   c
        jr   z, learn_rival_left_out
        ld   a, e
        sub  (hl)
        inc  hl
        ld   a, d
        sbc  a, (hl)
        jr   nc, learn_rival_keep
        ld   d, (hl)
        dec  hl
        ld   e, (hl)
        ld   ixl, b
learn_rival_left_out:
        inc  hl
learn_rival_keep:
        inc  hl
        inc  hl
        inc  hl
        djnz learn_rival_next
        ld   a, 10
        sub  ixl
        ret

; learn_correct - if a picture's digit is not well ahead, raise the digit's weights by one and lower its rival's
;
; In         c = digit, 0..9;  learn_line;  learn_digits with the picture's scores, below 32768 - LEARN_MARGIN
; Out        carry = the weights had to change
; Clobbers   af bc de hl ix
; T-states   1194..1458, and 1185 + 156 * inked patches more if the weights had to change
; Bytes      56
learn_correct:
        call learn_rival
        push af
        push bc
        ld   a, c
        add  a, a
        add  a, a
        ld   c, a                       ; bc = 4 * digit
        ld   b, 0
        ld   hl, learn_digits + 2
        add  hl, bc
        ld   a, (hl)
        inc  hl
        ld   h, (hl)
        ld   l, a
        or   a
        sbc  hl, de                     ; hl = how far the digit is ahead, s16
        ld   de, LEARN_MARGIN
        or   a
        sbc  hl, de
        pop  bc
        pop  de                         ; d = rival
        ret  p                          ; with no carry
        push de
        ld   a, c
        call learn_correct_page
        call learn_raise
        pop  af
        call learn_correct_page
        call learn_lower
        scf
        ret

learn_correct_page:                     ; a = digit; out: d = its first weight page
        ld   d, a
        add  a, a
        add  a, a
        add  a, d
        add  a, learn_weight_page / 256
        ld   d, a
        ret

; learn_raise - add one to a digit's weights of all patches that are not blank, up to 255
;
; In         d = first weight page of the digit;  learn_line
; Out        the weights
; Clobbers   af bc de hl
; T-states   505 + 78 * inked patches
; Bytes      35
learn_raise:
        ld   hl, learn_line + 1
        ld   bc, 5
learn_raise_segment:                    ; hl = entry of a segment, d = weight page, bc = 5
        ld   a, (hl)
        inc  hl
        ld   h, (hl)
        ld   l, a
        jr   learn_raise_more
learn_raise_slot:                       ; hl = a filled slot
        inc  hl
        ld   e, (hl)                    ; de = weight
        ld   a, (de)
        add  a, 1
        sbc  a, 0
        ld   (de), a
        add  hl, bc
learn_raise_more:
        ld   a, (hl)
        cp   0x2E                       ; ld l, n
        jr   z, learn_raise_slot
        inc  d
        inc  hl
        inc  hl
        ld   a, l
        cp   learn_line_end + 1 - (learn_line_end + 1) / 256 * 256
        jr   nz, learn_raise_segment
        ret

; learn_lower - take one from a digit's weights of all patches that are not blank, down to 0
;
; In         d = first weight page of the digit;  learn_line
; Out        the weights
; Clobbers   af bc de hl
; T-states   505 + 78 * inked patches
; Bytes      35
learn_lower:
        ld   hl, learn_line + 1
        ld   bc, 5
learn_lower_segment:                    ; hl = entry of a segment, d = weight page, bc = 5
        ld   a, (hl)
        inc  hl
        ld   h, (hl)
        ld   l, a
        jr   learn_lower_more
learn_lower_slot:                       ; hl = a filled slot
        inc  hl
        ld   e, (hl)                    ; de = weight
        ld   a, (de)
        sub  1
        adc  a, 0
        ld   (de), a
        add  hl, bc
learn_lower_more:
        ld   a, (hl)
        cp   0x2E                       ; ld l, n
        jr   z, learn_lower_slot
        inc  d
        inc  hl
        inc  hl
        ld   a, l
        cp   learn_line_end + 1 - (learn_line_end + 1) / 256 * 256
        jr   nz, learn_lower_segment
        ret
