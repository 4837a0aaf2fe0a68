; bit_sum - sums of unsigned weights over the set bits of a map
;
; The set bits are compiled into a line of `ld l, k / add a, (hl)`, which runs once an output. As many weights as cannot overflow
; are added up in a before a is added to ix; `inc h` goes on to the next page of weights.
;
; In         hl = descriptor of 10 bytes: addresses of the map and of the biases; weights in a batch, twice the
;            outputs, low address byte after the map, first page, page after the last, and `inc h` or, if the line goes on to
;            the next output's page itself, `nop`
; Out        scores = one word an output, u16, low byte first
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel bit_sum counts non-empty bytes, set bits and batches
; Bytes      273
; Needs      bits_line; scores within a page
; Writes     own code (operands, and one instruction)
bit_sum:
        ld   de, bit_sum_map
        ld   bc, 10
        ldir
        ld   a, (bit_sum_batch)
        ld   (bit_sum_again), a
        ld   b, a
        ld   c, 0
        ld   a, (bit_sum_map_end)
        ld   (bit_sum_end), a
        ld   a, (bit_sum_last)
        ld   (bit_sum_last_page), a
        ld   a, (bit_sum_step)
        ld   (bit_sum_next_page), a
        ld   ix, (bit_sum_map)
        ld   hl, bits_line
        ld   de, 0x862E                 ; e = ld l, k   d = add a, (hl)
bit_sum_byte:                           ; ix = next byte, c = its first bit's place in a page, b = slots left in the batch
        ld   a, (ix+0)
        inc  ix
        or   a
        jp   nz, bit_sum_bits
        ld   a, c
        add  a, 8
        ld   c, a
        jp   bit_sum_page
bit_sum_bits:
        include "bit_sum_scan.asm"
bit_sum_page:                           ; zero: c has left the page
        jr   nz, bit_sum_same_page
        ld   (hl), 0x24                 ; inc h
        inc  hl
bit_sum_same_page:
        ld   a, ixl
        cp   0
bit_sum_end: equ $ - 1
        jp   nz, bit_sum_byte
        call bit_sum_add
        dec  hl
        ld   (hl), 0xC9                 ; ret, over the last xor a

        ld   hl, (bit_sum_bias)
        ld   de, scores
        ld   b, 0
        ld   a, (bit_sum_outputs)
        ld   c, a
        ldir
        ld   de, scores
        ld   a, (bit_sum_first)
        ld   h, a
bit_sum_output:                         ; de = bias of the output, and where its score goes; h = first page of its weights; b = 0
        ld   a, (de)
        ld   ixl, a
        inc  e
        ld   a, (de)
        ld   ixh, a
        xor  a
        call bits_line
        ld   a, ixh
        ld   (de), a
        dec  e
        ld   a, ixl
        ld   (de), a
        inc  e
        inc  e
bit_sum_next_page:
        inc  h
        ld   a, h
        cp   0
bit_sum_last_page: equ $ - 1
        jp   nz, bit_sum_output
        ret

bit_sum_add:                            ; end a batch: hl = where the line goes on; b = slots in the next batch
        ld   (hl), 0x4F                 ; ld c, a
        inc  hl
        ld   (hl), 0xDD                 ; add ix, bc
        inc  hl
        ld   (hl), 0x09
        inc  hl
        ld   (hl), 0xAF                 ; xor a
        inc  hl
        ld   b, 0
bit_sum_again: equ $ - 1
        ret

bit_sum_map:                            ; the descriptor
        defs 2
bit_sum_bias:
        defs 2
bit_sum_batch:
        defs 1
bit_sum_outputs:
        defs 1
bit_sum_map_end:
        defs 1
bit_sum_first:
        defs 1
bit_sum_last:
        defs 1
bit_sum_step:
        defs 1
