; code_sum - the output sums, from the line of codes that the layer before wrote
;
; A block of the line looks up one page of the output; a batch of look-ups is added up in a, which cannot overflow, before a is
; added to de. A block is entered at the last slot written with a = 0, whichever slot of its batch that is; after a full batch
; it is entered at the accumulation before it, which adds 0. The jump into a block lies in the block before, a block's bytes lower
; than that into the next. The last block runs on into the end of the output, which fills it up.
;
; In         the line and its entries
; Out        scores = one word an output, u16, low byte first
; Clobbers   af bc de hl
; T-states   exact in the codes: the Cost of the kernel code_sum counts codes and full batches
; Bytes      CODE_BLOCK, and as many for each page of an output
; Needs      code_sum_page, CODE_PAGES of them, CODE_BIAS = position of a word in the first page of each output; scores within a
;            page; CODE_BLOCK = bytes of a block, 128 or 256; the start on a page, so that each block lies within one
code_sum_start:
        defs CODE_BLOCK - 20
code_sum:
        ld   h, code_sum_page / 256
        ld   bc, scores
code_sum_unit:                          ; h = first page of the output, bc = where its score goes
        ld   l, CODE_BIAS
        ld   e, (hl)                    ; de = bias
        inc  l
        ld   d, (hl)
        xor  a
        jp   0                          ; to the last slot written
code_sum_entry: equ $ - 2
        defs 6
code_sum_line:
        include "code_line.asm"
        add  a, e                       ; a = last batch of the output, de = sum before it
        ld   (bc), a
        inc  c
        ld   a, d
        adc  a, 0
        ld   (bc), a
        inc  c
        inc  h
        ld   a, h
        cp   code_sum_page / 256 + CODE_PAGES
        jp   nz, code_sum_unit
        ret
