;;;; classify.asm
; classify - read the digit in a picture
; In         hl = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel
; Out        a = digit; scores = one word a digit
; Clobbers   af bc de hl ix
; T-states   2,390 on average, at most 4,913
classify:
classify_0:                             ; hidden: edge_sum_2
        call edge_code
        call edge_sum
classify_1:                             ; scores: dense_sum_2
        call dense_sum
classify_2:                             ; digit: arg_max
        call arg_max
classify_3:
        ret
classify_haste:                         ; 255: a caller in haste, who gets a = 255 where much time may be needed yet; else 0
        defb 0
;;;; dense_line.asm
        ld   c, a
        add  ix, bc
        ld   l, 0
        ld   a, (hl)
        ld   l, 0
        add  a, (hl)
        ld   c, a
        add  ix, bc
;;;; dense_product_page.asm
dense_product_page:
; output 0, bias 280 at 130
        defs 128
        defb 48, 0, 24, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defs 112
; output 1, bias 498 at 130
        defs 128
        defb 3, 0, 242, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defs 112
;;;; edge_level_page.asm
edge_level_page:                        ; where the level of each sum lies in a product page, from the unit's first index on
        defs 128
;;;; edge_line.asm
; slots: ld l, 0 / sub (hl) and ld l, 0 / add a, (hl) in turn; a row of the picture a line
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150 ; row 0
        defb 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150
        defb 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
;;;; edge_weight_page.asm
edge_weight_page:
; unit 0, lower half: sums of the weights before each pixel
        defb 0, 5, 9, 14, 15, 20, 17, 16, 20, 14
        defb 11, 5, 4, 11, 6, 4, 3, 9, 5, 5
        defb 1, 0                       ; the whole half
        defs 234
; unit 0, upper half: sums of the weights before each pixel
        defb 0, 0, 0, 4, 11, 4, 255, 4, 11, 7
        defb 4, 10, 9, 6, 11, 7, 6, 8, 9, 3
        defb 252, 133                   ; the whole half; bias
        defs 234
;;;; main.asm
; random1: a neural network for the 48K Spectrum
; call classify with hl = a picture of 28 rows of 4 bytes, bit 7 leftmost; it returns a = the digit
; and the scores in `scores`, and changes af bc de hl ix
        include "map.asm"
        org  32768
program_end:                            ; must not pass 32768
        defs 32768 - $
edge_weight_page_section_start:
        include "edge_weight_page.asm"
edge_weight_page_section_end:
        defs 33280 - $
scores_section_start:
        include "scores.asm"
scores_section_end:
        defs 33284 - $
edge_sum_section_start:
        include "edge_sum.asm"
edge_sum_section_end:
        defs 33450 - $
edge_code_section_start:
        include "edge_code.asm"
edge_code_section_end:
        defs 33582 - $
dense_sum_section_start:
        include "dense_sum.asm"
dense_sum_section_end:
        defs 33636 - $
arg_max_section_start:
        include "arg_max.asm"
arg_max_section_end:
        defs 33668 - $
classify_section_start:
        include "classify.asm"
classify_section_end:
        defs 33682 - $
digit_section_start:
        include "digit.asm"
digit_section_end:
        defs 33792 - $
dense_product_page_section_start:
        include "dense_product_page.asm"
dense_product_page_section_end:
        defs 34304 - $
edge_column_page_section_start:
        include "edge_column_page.asm"
edge_column_page_section_end:
        defs 34560 - $
edge_level_page_section_start:
        include "edge_level_page.asm"
edge_level_page_section_end:
;;;; map.asm
; hidden: edge_sum_2
EDGE_END: equ 58
EDGE_HALF_ROWS: equ 1
EDGE_LAST_ROW: equ 252
EDGE_BIAS: equ 21
EDGE_FULL_SUM: equ 0
EDGE_FULL_INDEX: equ 0
EDGE_LAST_PAGE: equ 129
; scores: dense_sum_2
DENSE_BATCH: equ 2
DENSE_UNITS: equ 2
DENSE_BIAS: equ 130
; digit: arg_max
ARG_MAX_UNITS: equ 2
;
; first   last     bytes  what
; 0x8000  0x81ff     512  edge_weight_page
; 0x8200  0x8203       4  scores
; 0x8204  0x82a9     166  kernel/edge_sum
; 0x82aa  0x832d     132  kernel/edge_code
; 0x832e  0x8363      54  kernel/dense_sum
; 0x8364  0x8383      32  kernel/arg_max
; 0x8384  0x8391      14  classify
; 0x8392  0x8392       1  kernel/digit
; 0x8400  0x85ff     512  dense_product_page
; 0x8600  0x86ff     256  edge_column_page
; 0x8700  0x877f     128  edge_level_page
;;;; scores.asm
scores:                                 ; one word an output
        defs 4
