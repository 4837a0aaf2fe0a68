; learn_code - the patches of a small picture become machine code, which adds up a digit's weights
;
; A patch that is not blank fills a slot of learn_line: `ld l, patch * 16 + pattern / add a, (hl)` and a carry. A segment of the line
; is two rows of patches, whose weights are a page; its slots are filled from the last one upwards, and it is entered at the
; last one filled. The patterns of a row come from a register into which both rows of pixels are shifted, one column at a time.
;
; In         a = first row, 0..2: 1 moves nothing, 0 moves the picture one pixel down, 2 up;  learn_rows
; Out        learn_line
; Clobbers   af bc de hl ix
; T-states   5364 + 20 * inked patches
; Bytes      308
; Needs      learn_patches.asm, LEARN_SEGMENT = bytes of a segment
; Writes     own code (learn_line)
learn_code:
        add  a, a
        ld   e, a
        ld   d, 0
        ld   ix, learn_rows
        add  ix, de
        ld   hl, learn_line + LEARN_SEGMENT - 6
learn_code_segment:                     ; hl = operand of the segment's last slot, ix = the first of its three rows of pixels
        push hl
        ld   bc, 0 - 6                  ; from an operand to the one before it
        include "learn_patches.asm"     ; hl = next operand to write
        ld   de, 5                      ; the slot of operand k starts at k - 1, and the last written is 6 above hl
        add  hl, de
        ex   de, hl
        pop  hl
        ld   bc, 7 - LEARN_SEGMENT
        add  hl, bc
        ld   (hl), e                    ; the segment's entry
        inc  hl
        ld   (hl), d
        ld   bc, 2 * LEARN_SEGMENT - 8
        add  hl, bc
        ld   bc, 4
        add  ix, bc
        ld   a, l
        cp   learn_line_end + LEARN_SEGMENT - 6 - (learn_line_end + LEARN_SEGMENT - 6) / 256 * 256
        jp   nz, learn_code_segment
        ret
