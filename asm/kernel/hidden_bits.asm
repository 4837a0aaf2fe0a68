; hidden_bits - sums and activations of a layer of weights on the bits of a map
;
; A run compiles the set bits of a stretch of the map, at most a page of weights, into a line of code, which then runs once for
; each unit or, where weights are packed, for each pair of units. A packed byte is 16 first + second, modulo 256: a' sums the
; first unit's weights, which hidden_nibble_page takes out of the bytes, and a sums the bytes, so the second unit's sum is
; a - 16 a'. The line is written from its end downwards; where it begins within a batch, the rest of the batch is zeros.
;
; In         the map; hidden_runs = a record of 7 bytes for each run: low address byte of its first byte of the map, number of
;            bytes (0 ends the list), column of the first in the pages of weights, page before the first, first sum, number of
;            lines run, bytes to the next record if no bit of the run is set
; Out        de = next free operand in dense_line; the operands above it
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel hidden_bits counts bytes, bits and batches of the runs, and active units
; Needs      hidden_map, hidden_sum_page and hidden_bit_page on pages, hidden_level_page, dense_line_last, DENSE_BATCH;
;            HIDDEN_PACKED = 1 or 0, HIDDEN_UNITS, HIDDEN_SUMS = bytes of hidden_bias; HIDDEN_STEP = bytes from an operand of
;            the line to the one before; HIDDEN_FULL_SUM = least sum that takes two slots, or 0; HIDDEN_FULL_INDEX = the
;            highest level's index of unit 0
; Stack      8 bytes
; Writes     own code (hidden_entry, hidden_record, the line)
hidden_bits:
        exx
        push bc
        push de
        push hl
        ex   af, af'
        push af
        ld   hl, hidden_bias
        ld   de, hidden_sum_page
        ld   bc, HIDDEN_SUMS
        ldir
        ld   ix, hidden_runs
hidden_run:                             ; ix = record
        ld   a, (ix+1)
        or   a
        jp   z, hidden_finish
        exx
        ld   b, a
        ld   l, (ix+0)
        ld   h, hidden_map / 256
        exx
        ld   a, (ix+2)
        ld   (hidden_record), ix
        ld   ixl, a
        ld   b, hidden_bit_page / 256
        ld   hl, hidden_line_end + 1
        ld   de, 0 - HIDDEN_STEP
        exx
        jp   hidden_byte_0
        include "hidden_scan.asm"       ; hl' = byte of the map, b' = bytes left, b = bit page, ixl = column, hl = last operand
hidden_compiled:
        ld   ix, (hidden_record)
        exx
        ld   bc, hidden_line_end + 1
        or   a
        sbc  hl, bc
        jp   z, hidden_skip
        add  hl, bc
        dec  hl
        ld   (hidden_entry), hl
        ld   e, (ix+3)
        exx
        ld   l, (ix+4)
        ld   h, hidden_sum_page / 256
        ld   b, (ix+5)
hidden_line:                            ; hl = sum, b = lines left, e' = page before
        ld   a, (hl)
        if   HIDDEN_PACKED > 0
        ex   af, af'
        inc  l
        ld   a, (hl)
        endif
        exx
        inc  e
        ld   h, e
        if   HIDDEN_PACKED > 0
        ld   bc, 0
        ld   d, b
        endif
        jp   0                          ; to the last slot written
hidden_entry: equ $ - 2
        include "hidden_line.asm"
hidden_line_end:
        exx
        ld   (hl), a
        if   HIDDEN_PACKED > 0
        dec  l
        ex   af, af'
        ld   (hl), a
        inc  l
        endif
        inc  l
        dec  b
        jp   nz, hidden_line
        exx
        ld   de, 7
        add  ix, de
        jp   hidden_run

hidden_skip:
        ld   e, (ix+6)
        ld   d, 0
        add  ix, de
        jp   hidden_run

hidden_record:                          ; address
        defs 2

hidden_finish:
        pop  af
        ex   af, af'
        pop  hl
        pop  de
        pop  bc
        exx
        ld   hl, hidden_sum_page
        if   HIDDEN_PACKED > 0
        ld   b, HIDDEN_SUMS / 2
hidden_second:                          ; hl = sum of the first unit of a pair, after it that of the bytes
        ld   a, (hl)
        add  a, a
        add  a, a
        add  a, a
        add  a, a
        ld   c, a
        inc  l
        ld   a, (hl)
        sub  c
        ld   (hl), a
        inc  l
        djnz hidden_second
        ld   l, b
        endif
        ld   b, hidden_level_page / 256
        ld   de, dense_line_last
        ld   ixl, DENSE_BATCH           ; ixl = slots left before the next accumulation
hidden_unit:                            ; hl = sum, l = unit, b = level page
        ld   a, (hl)
        or   a
        jp   m, hidden_off
        ld   c, a
        if   HIDDEN_FULL_SUM > 0        ; a unit with more levels than a product page has takes two slots:
        sub  HIDDEN_FULL_SUM
        jr   c, hidden_slot
        ld   c, a                       ; c = what the highest level of the page leaves
        ld   a, HIDDEN_FULL_INDEX
        add  a, l
        add  a, l
        ld   (de), a
        dec  de
        dec  de
        dec  de
        dec  ixl
        jr   nz, hidden_slot
        ld   ixl, DENSE_BATCH
        dec  de                         ; step over the accumulation
        dec  de
        dec  de
        endif
hidden_slot:
        ld   a, (bc)                    ; where this level of unit 0 lies in the product pages
        add  a, l
        add  a, l
        ld   (de), a
        dec  de
        dec  de
        dec  de
        dec  ixl
        jr   nz, hidden_off
        ld   ixl, DENSE_BATCH
        dec  de
        dec  de
        dec  de
hidden_off:
        inc  l
        ld   a, l
        cp   HIDDEN_UNITS
        jp   nz, hidden_unit
        ret
