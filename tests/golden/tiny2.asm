;;;; classify.asm
; classify - read the digit in a picture
; In         hl = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel
; Out        a = digit; scores = one word a digit
; Clobbers   af bc de hl ix
; T-states   2,736 on average, at most 5,627
classify:
classify_0:                             ; hidden: edge_sum_3
        call edge_code
        call edge_sum
classify_1:                             ; scores: dense_sum_3
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
        ld   l, 0
        add  a, (hl)
        ld   c, a
        add  ix, bc
;;;; dense_product_page.asm
dense_product_page:
; output 0, bias 444 at 132
        defs 128
        defb 14, 28, 2, 4, 188, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defs 112
; output 1, bias 498 at 132
        defs 128
        defb 19, 38, 26, 52, 242, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defs 112
;;;; edge_level_page.asm
edge_level_page:                        ; where the level of each sum lies in a product page, from the unit's first index on
        defs 32
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
;;;; edge_line.asm
; slots: ld l, 0 / sub (hl) and ld l, 0 / add a, (hl) in turn; a row of the picture a line
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150 ; row 0
        defb 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150
        defb 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
;;;; edge_weight_page.asm
edge_weight_page:
; unit 0, lower half: sums of the weights before each pixel
        defb 0, 253, 254, 1, 7, 14, 20, 16, 17, 20
        defb 20, 27, 26, 26, 26, 27, 26, 27, 31, 31
        defb 27, 0                      ; the whole half
        defs 234
; unit 0, upper half: sums of the weights before each pixel
        defb 0, 5, 255, 254, 253, 251, 0, 7, 13, 14
        defb 10, 7, 3, 7, 10, 17, 13, 20, 26, 24
        defb 17, 252                    ; the whole half; bias
        defs 234
; unit 1, lower half: sums of the weights before each pixel
        defb 0, 254, 254, 4, 8, 5, 11, 11, 14, 8
        defb 2, 254, 4, 7, 12, 14, 13, 13, 14, 19
        defb 18, 0                      ; the whole half
        defs 234
; unit 1, upper half: sums of the weights before each pixel
        defb 0, 252, 249, 254, 248, 250, 253, 248, 241, 238
        defb 240, 241, 236, 235, 238, 237, 239, 246, 249, 247
        defb 242, 100                   ; the whole half; bias
        defs 234
;;;; main.asm
; random2: a neural network for the 48K Spectrum
; call classify with hl = a picture of 28 rows of 4 bytes, bit 7 leftmost; it returns a = the digit
; and the scores in `scores`, and changes af bc de hl ix
        include "map.asm"
        org  32768
program_end:                            ; must not pass 32768
        defs 32768 - $
edge_weight_page_section_start:
        include "edge_weight_page.asm"
edge_weight_page_section_end:
        defs 33792 - $
scores_section_start:
        include "scores.asm"
scores_section_end:
        defs 33796 - $
edge_sum_section_start:
        include "edge_sum.asm"
edge_sum_section_end:
        defs 33962 - $
edge_code_section_start:
        include "edge_code.asm"
edge_code_section_end:
        defs 34094 - $
dense_sum_section_start:
        include "dense_sum.asm"
dense_sum_section_end:
        defs 34151 - $
arg_max_section_start:
        include "arg_max.asm"
arg_max_section_end:
        defs 34183 - $
classify_section_start:
        include "classify.asm"
classify_section_end:
        defs 34197 - $
digit_section_start:
        include "digit.asm"
digit_section_end:
        defs 34304 - $
dense_product_page_section_start:
        include "dense_product_page.asm"
dense_product_page_section_end:
        defs 34816 - $
edge_column_page_section_start:
        include "edge_column_page.asm"
edge_column_page_section_end:
        defs 35072 - $
edge_level_page_section_start:
        include "edge_level_page.asm"
edge_level_page_section_end:
;;;; map.asm
; hidden: edge_sum_3
EDGE_END: equ 54
EDGE_HALF_ROWS: equ 1
EDGE_LAST_ROW: equ 252
EDGE_BIAS: equ 21
EDGE_FULL_SUM: equ 0
EDGE_FULL_INDEX: equ 0
EDGE_LAST_PAGE: equ 131
; scores: dense_sum_3
DENSE_BATCH: equ 3
DENSE_UNITS: equ 2
DENSE_BIAS: equ 132
; digit: arg_max
ARG_MAX_UNITS: equ 2
;
; first   last     bytes  what
; 0x8000  0x83ff   1,024  edge_weight_page
; 0x8400  0x8403       4  scores
; 0x8404  0x84a9     166  kernel/edge_sum
; 0x84aa  0x852d     132  kernel/edge_code
; 0x852e  0x8566      57  kernel/dense_sum
; 0x8567  0x8586      32  kernel/arg_max
; 0x8587  0x8594      14  classify
; 0x8595  0x8595       1  kernel/digit
; 0x8600  0x87ff     512  dense_product_page
; 0x8800  0x88ff     256  edge_column_page
; 0x8900  0x897f     128  edge_level_page
;;;; scores.asm
scores:                                 ; one word an output
        defs 4
