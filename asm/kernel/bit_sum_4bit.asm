; bit_sum_4bit - sums of unsigned weights of four bits, two a byte, over the set bits of a map
;
; The weights of a bit of the map lie together, one nibble an output. They are added to sums of 8 bits, which go into the scores
; before any of them can overflow.
;
; The form for planes has the lines marked so, too: both bytes of a group have the same weights.
;
; In         hl = descriptor of 8 bytes: addresses of the map, of the weights and of the biases; bytes of the map, weights in a
;            batch
; Out        scores = BIT_SUM_OUTPUTS words, u16, low byte first
; Clobbers   af bc de hl ix
; T-states   exact in the map: the Cost of the kernel bit_sum_4bit counts non-empty bytes, set bits and batches
; Bytes      134 + 12 BIT_SUM_PAIRS; for planes 10 more
; Needs      bit_sum_high_page = the upper nibble of each byte; scores and bit_sum_part, one byte a nibble, within a page
bit_sum_4bit:
        ld   de, bit_sum_4bit_map
        ld   bc, 8
        ldir
        ld   hl, (bit_sum_4bit_bias)
        ld   de, scores
        ld   bc, BIT_SUM_OUTPUTS * 2
        ldir
        ld   hl, bit_sum_part
        ld   b, BIT_SUM_PAIRS * 2
bit_sum_4bit_clear:
        ld   (hl), 0
        inc  l
        djnz bit_sum_4bit_clear
        ld   de, (bit_sum_4bit_weight)
        ld   b, bit_sum_high_page / 256
        ld   a, (bit_sum_4bit_nbytes)
        ld   ixh, a
        ld   a, (bit_sum_4bit_batch)
        ld   ixl, a
bit_sum_4bit_byte:                      ; de = weights of the byte's first bit, ixh = bytes left, ixl = set bits left in the batch
        ld   hl, (bit_sum_4bit_map)
        ld   a, (hl)
        inc  hl
        ld   (bit_sum_4bit_map), hl
        or   a
        jr   nz, bit_sum_4bit_bits
        ld   hl, BIT_SUM_PAIRS * 8
        add  hl, de
        ex   de, hl
        jp   bit_sum_4bit_byte_end
bit_sum_4bit_bits:
        scf
        rra
bit_sum_4bit_bit:                       ; carry = the bit, a = the bits after it below a marker
        jr   nc, bit_sum_4bit_skip
        push af
        ld   hl, bit_sum_part
        include "bit_sum_4bit_pairs.asm"
        dec  ixl
        call z, bit_sum_4bit_add
        pop  af
        jp   bit_sum_4bit_bit_end
bit_sum_4bit_skip:
        ld   hl, BIT_SUM_PAIRS
        add  hl, de
        ex   de, hl
bit_sum_4bit_bit_end:
        srl  a
        jr   nz, bit_sum_4bit_bit
bit_sum_4bit_byte_end:
;planes ld   a, ixh
;planes rra
;planes jr   c, bit_sum_4bit_group_end  ; the second plane's byte is done
;planes ld   hl, 65536 - BIT_SUM_PAIRS * 8
;planes add  hl, de
;planes ex   de, hl
bit_sum_4bit_group_end:
        dec  ixh
        jr   nz, bit_sum_4bit_byte
bit_sum_4bit_add:                       ; end a batch: the sums go into the scores
        push de
        push bc
        ld   hl, bit_sum_part
        ld   de, scores
        ld   b, BIT_SUM_OUTPUTS
bit_sum_4bit_score:                     ; hl = sum, de = score, b = outputs left
        ld   a, (de)
        add  a, (hl)
        ld   (de), a
        inc  e
        ld   a, (de)
        adc  a, 0
        ld   (de), a
        inc  e
        ld   (hl), 0
        inc  l
        djnz bit_sum_4bit_score
        ld   a, (bit_sum_4bit_batch)
        ld   ixl, a
        pop  bc
        pop  de
        ret

bit_sum_4bit_map:                       ; the descriptor
        defs 2
bit_sum_4bit_weight:
        defs 2
bit_sum_4bit_bias:
        defs 2
bit_sum_4bit_nbytes:
        defs 1
bit_sum_4bit_batch:
        defs 1
