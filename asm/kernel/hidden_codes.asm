; hidden_codes - sums and activations of a layer of weights for each code at each place
;
; The operands of the line of codes are copied into a line of this routine's own, which then runs once for each unit or, where
; weights are packed, for each pair of units. A packed byte is 16 first + second, modulo 256: a' sums the first unit's weights,
; which hidden_nibble_page takes out of the bytes, and a sums the bytes, so the second unit's sum is a - 16 a'. The line has a
; block for each page of weights of a unit or a pair; where one begins within a batch, the rest of the batch is zeros.
;
; In         the line of codes and its entries
; Out        de = next free operand in dense_line; the operands above it
; Clobbers   af bc de hl ix
; T-states   exact in the codes: the Cost of the kernel hidden_codes counts codes, batches and active units
; Needs      code_sum_line, code_sum_entry; hidden_level_page: the levels of sums from 0 on, and from byte 128 on hidden_bias, a
;            byte for each unit; dense_line_last, DENSE_BATCH; HIDDEN_PACKED = 1 or 0
; Stack      10 bytes
; Writes     own code (hidden_entry_0 and on, the line)
hidden_codes:
        exx
        push bc
        push de
        push hl
        exx
        ex   af, af'
        push af
        include "hidden_copy.asm"
        ld   hl, hidden_bias
        ld   de, dense_line_last
        ld   b, h
        ld   ixl, DENSE_BATCH           ; ixl = slots left before the next accumulation
        include "hidden_runs.asm"       ; e', or h' of bytes, = page before a table, ixh = its lines
        pop  af
        ex   af, af'
        exx
        pop  hl
        pop  de
        pop  bc
        exx
        ret

hidden_unit:                            ; hl = bias, l = 128 + unit, b = level page, de = next operand, ixh = lines left
        ld   a, (hl)
        if   HIDDEN_PACKED > 0
        ex   af, af'
        inc  l
        ld   a, (hl)
        endif
        exx
        include "hidden_line.asm"
        exx
        if   HIDDEN_PACKED > 0
        ex   af, af'
        ld   c, a
        or   a
        jp   m, hidden_second           ; the first unit is off
        include "hidden_first.asm"
hidden_second:                          ; c = sum of the first unit, a' = sum of the bytes
        ld   a, c
        add  a, a
        add  a, a
        add  a, a
        add  a, a
        ld   c, a
        ex   af, af'
        inc  l
        sub  c
        else
        inc  l
        or   a
        endif
        ld   c, a
        jp   m, hidden_off
        include "hidden_active.asm"
hidden_off:
        dec  ixh
        jp   nz, hidden_unit
        ret
