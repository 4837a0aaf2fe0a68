; code_sum_4bit - output sums of the codes of a map of features, from unsigned weights of four bits, two a byte
;
; The weights of a code at a place are a row of bytes, the rows of a place's codes lie together. Each nibble of the row of a
; place's code is added to a score.
;
; In         bc = the map, a byte a place, on a page
; Out        scores = two words for each of CODE_4BIT_PAIRS, u16, low byte first
; Clobbers   af bc de hl
; T-states   exact in the map: the Cost of the kernel code_sum_4bit counts places with a code
; Bytes      82
; Needs      code_sum_4bit_page = where the row of the code of each byte of features lies, from a row before the first, 0: no code;
;            code_sum_4bit_weight, the rows; code_sum_4bit_bias; CODE_4BIT_PAIRS, CODE_4BIT_ROWS = bytes of a row, of a place's
;            rows; CODE_4BIT_PLACES = places of the map, modulo 256; scores within a page
; Stack      4 bytes
code_sum_4bit:
        push bc
        ld   hl, code_sum_4bit_bias
        ld   de, scores
        ld   bc, CODE_4BIT_PAIRS * 4
        ldir
        pop  bc
        ld   hl, code_sum_4bit_weight - CODE_4BIT_PAIRS
code_sum_4bit_place:                    ; c = number of the place, hl = a row before its first
        ld   a, (bc)
        ld   d, code_sum_4bit_page / 256
        ld   e, a
        ld   a, (de)
        or   a
        jr   z, code_sum_4bit_none
        push bc
        push hl
        ld   c, a
        ld   b, 0
        add  hl, bc
        ld   de, scores
        ld   b, CODE_4BIT_PAIRS
code_sum_4bit_pair:                     ; hl = two weights, de = score, b = pairs left
        ld   a, (hl)
        rrca
        rrca
        rrca
        rrca
        and  15
        ld   c, a
        ld   a, (de)
        add  a, c
        ld   (de), a
        inc  e
        ld   a, (de)
        adc  a, 0
        ld   (de), a
        inc  e
        ld   a, (hl)
        inc  hl
        and  15
        ld   c, a
        ld   a, (de)
        add  a, c
        ld   (de), a
        inc  e
        ld   a, (de)
        adc  a, 0
        ld   (de), a
        inc  e
        djnz code_sum_4bit_pair
        pop  hl
        pop  bc
code_sum_4bit_none:
        ld   de, CODE_4BIT_ROWS
        add  hl, de
        inc  c
        ld   a, c
        cp   CODE_4BIT_PLACES
        jp   nz, code_sum_4bit_place
        ret
