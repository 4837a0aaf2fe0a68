;;;; classify.asm
; SPDX-License-Identifier: 0BSD
; classify - read the digit in a picture
;
; In         hl = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel
; Out        a = digit; scores = one word a digit
; Clobbers   af bc de hl ix
; T-states   4,254 on average, at most 10,149
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
;;;; dense_line.asm
; SPDX-License-Identifier: 0BSD
        ld   c, a
        add  ix, bc
        ld   l, 0
        ld   a, (hl)
        ld   l, 0
        add  a, (hl)
        ld   c, a
        add  ix, bc
;;;; dense_product_page.asm
; SPDX-License-Identifier: 0BSD
dense_product_page:
; output 0, bias 252 at 132
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 25, 50, 15, 30, 252, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
; output 1, bias 784 at 132
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 9, 18, 29, 58, 16, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
;;;; edge_level_page.asm
; SPDX-License-Identifier: 0BSD
edge_level_page:                        ; where the level of each sum lies in a product page, from the unit's first index on
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
        defb 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
;;;; edge_line_1.asm
; SPDX-License-Identifier: 0BSD
; slots: ld l, 0 / sub (hl) and ld l, 0 / add a, (hl) in turn; a row of the picture a line
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46 ; row 0
        defb 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0
        defb 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46 ; row 1
        defb 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0
        defb 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
;;;; edge_line_2.asm
; SPDX-License-Identifier: 0BSD
; slots: ld l, 0 / sub (hl) and ld l, 0 / add a, (hl) in turn; a row of the picture a line
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46 ; row 0
        defb 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0
        defb 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46 ; row 1
        defb 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0
        defb 150, 46, 0, 134, 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
        defb 46, 0, 150, 46, 0, 134, 46, 0, 150, 46, 0, 134
;;;; edge_weight_page.asm
; SPDX-License-Identifier: 0BSD
edge_weight_page:
; unit 0, lower half: sums of the weights before each pixel
        defb 0, 0, 255, 249, 248, 242, 244, 248, 241, 237, 237, 237, 238, 235, 232, 231
        defb 234, 238, 232, 236
        defb 234, 241, 241, 245, 240, 234, 239, 237, 234, 235, 237, 239, 238, 243, 236, 242
        defb 237, 238, 239, 233
        defb 240, 0                     ; the whole half
        defs 214
; unit 0, upper half: sums of the weights before each pixel
        defb 0, 5, 255, 254, 253, 251, 0, 7, 13, 14, 10, 7, 3, 7, 10, 17
        defb 13, 20, 26, 24
        defb 17, 14, 15, 18, 24, 31, 37, 33, 34, 37, 37, 44, 43, 43, 43, 44
        defb 43, 44, 48, 48
        defb 44, 152                    ; the whole half; bias
        defs 214
; unit 1, lower half: sums of the weights before each pixel
        defb 0, 6, 8, 13, 13, 16, 14, 14, 10, 4, 253, 0, 255, 5, 10, 8
        defb 15, 16, 20, 19
        defb 14, 9, 4, 6, 0, 249, 254, 248, 247, 247, 249, 249, 0, 4, 5, 7
        defb 7, 14, 10, 13
        defb 14, 0                      ; the whole half
        defs 214
; unit 1, upper half: sums of the weights before each pixel
        defb 0, 252, 249, 254, 248, 250, 253, 248, 241, 238, 240, 241, 236, 235, 238, 237
        defb 239, 246, 249, 247
        defb 242, 240, 240, 246, 250, 247, 253, 253, 0, 250, 244, 240, 246, 249, 254, 0
        defb 255, 255, 0, 5
        defb 4, 138                     ; the whole half; bias
        defs 214
;;;; map.asm
; SPDX-License-Identifier: 0BSD
; hidden: edge_sum_2
EDGE_END: equ 62
EDGE_HALF_ROWS: equ 2
EDGE_LAST_ROW: equ 16
EDGE_BIAS: equ 41
EDGE_LAST_PAGE: equ 131
; scores: dense_sum_2
DENSE_BATCH: equ 2
DENSE_UNITS: equ 2
DENSE_BIAS: equ 132
; digit: arg_max
ARG_MAX_UNITS: equ 2
;
; first   last     bytes  what
; 0x8000  0x83ff   1,024  edge_weight_page
; 0x8400  0x8435      54  kernel/dense_sum
; 0x8438  0x843b       4  scores
; 0x843c  0x8559     286  kernel/edge_sum
; 0x855a  0x85dd     132  kernel/edge_code
; 0x85de  0x85fe      33  kernel/arg_max
; 0x85ff  0x860b      13  classify
; 0x8700  0x88ff     512  dense_product_page
; 0x8900  0x89ff     256  edge_column_page
; 0x8a00  0x8a7f     128  edge_level_page
;;;; scores.asm
; SPDX-License-Identifier: 0BSD
scores:                                 ; one word an output
        defs 4
