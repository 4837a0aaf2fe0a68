; edge_sum - sums and activations of every hidden unit, from the lines that edge_code wrote
;
; Each unit has two pages of prefix sums, the upper half of the window on the odd page and the lower half on the even one.
; The pages fill memory from 0x8000, so the units are done from the last down until the page number loses its sign. A unit
; whose sum is not negative is active: its index in the product pages goes into the line of dense_sum, from the end downwards.
;
; In         the lines and entries written by edge_code
; Out        de = next free operand in dense_line; the operands above it
; Clobbers   af bc de hl ix
; T-states   exact in the picture: the Cost of the kernel edge_sum counts edges and active units
; Needs      EDGE_LAST_PAGE, EDGE_BIAS = position of the bias on the odd page, edge_level_page, dense_line_last, DENSE_BATCH;
;            EDGE_FULL_SUM = least sum that takes two slots, or 0; EDGE_FULL_INDEX = index of a page's highest level
; Writes     own code (dense_line)
edge_sum:
        ld   b, edge_level_page / 256
        ld   de, dense_line_last
        ld   ixl, DENSE_BATCH           ; ixl = slots left before the next accumulation
        ld   h, EDGE_LAST_PAGE
edge_sum_unit:                          ; h = odd page of the unit, b = level page
        ld   l, EDGE_BIAS
        ld   a, (hl)
        jp   0                          ; to the first slot written in line 1
edge_1_entry: equ $ - 2
        include "edge_line.asm"
edge_line_1_end:
        dec  h
        jp   0                          ; to the first slot written in line 2
edge_2_entry: equ $ - 2
        include "edge_line.asm"
edge_line_2_end:                        ; a = sum modulo 256
        or   a
        jp   m, edge_sum_off
        ld   c, a
        if   EDGE_FULL_SUM > 0          ; a unit with more levels than a product page has takes two slots:
        sub  EDGE_FULL_SUM
        jr   c, edge_sum_slot
        ld   c, a                       ; c = what the highest level of the page leaves
        ld   a, EDGE_FULL_INDEX
        add  a, h
        ld   (de), a
        dec  de
        dec  de
        dec  de
        dec  ixl
        jr   nz, edge_sum_slot
        ld   ixl, DENSE_BATCH
        dec  de                         ; step over the accumulation
        dec  de
        dec  de
        endif
edge_sum_slot:
        ld   a, (bc)                    ; where this level lies in the product pages
        add  a, h
        ld   (de), a
        dec  de
        dec  de
        dec  de
        dec  ixl
        jr   nz, edge_sum_off
        ld   ixl, DENSE_BATCH
        dec  de
        dec  de
        dec  de
edge_sum_off:
        dec  h
        jp   m, edge_sum_unit
        ret
