; dense_sum - the output sums, from the line of active units that the layer before wrote
;
; A slot of the line looks up one product; DENSE_BATCH of them are added up in a, which cannot overflow, before a is added to
; ix. The line is entered at the last slot written with a = 0, whichever slot of its batch that is; after a full batch it is
; entered at the accumulation before it, which adds 0.
;
; In         de = next free operand in dense_line
; Out        scores = DENSE_UNITS words, u16, low byte first
; Clobbers   af bc de hl ix
; T-states   exact in the picture: the Cost of the kernel dense_sum counts active units
; Needs      dense_product_page, DENSE_UNITS, DENSE_BIAS = position of a word in each page; scores within a page
; Writes     own code (dense_entry)
dense_line:
        include "dense_line.asm"
dense_line_last: equ $ - 5              ; the operand of the last slot, before the last accumulation
dense_line_end:                         ; ix = score
        ld   a, ixl
        ld   (de), a
        inc  e
        ld   a, ixh
        ld   (de), a
        inc  e
        inc  h
        ld   a, h
        cp   dense_product_page / 256 + DENSE_UNITS
        jp   nz, dense_sum_unit
        ret

dense_sum:
        inc  de                         ; the slot of operand k starts at k - 1, and the last written is 3 above de
        inc  de
        ld   (dense_entry), de
        ld   h, dense_product_page / 256
        ld   de, scores
dense_sum_unit:                         ; h = product page of the unit, de = where its score goes
        ld   l, DENSE_BIAS
        ld   c, (hl)
        inc  l
        ld   b, (hl)
        ld   ixl, c                     ; ix = bias
        ld   ixh, b
        ld   b, 0
        xor  a
        jp   0                          ; to the last slot written
dense_entry: equ $ - 2
