; learn - a 48K that learns and shows nothing: the memory map, and all routines, to be called one by one
;
; 0x6000     room for 1,800 pictures, 13 bytes each, the ten digits in turn; app_map, which has screens too, holds fewer
; 0xBC00     this file: routines, the line of code, the table of logarithms, counts
; 0xCE00     weights: five pages a digit, two rows of patches a page, patch * 16 + pattern in a page
        org  0xBC00
        include "learn_constants.asm"
learn_pictures: equ 0x6000
learn_weight_page: equ 0xCE00
learn_log_page:
        include "learn_log_page.asm"
        include "learn_scores.asm"
        include "learn_code.asm"
        include "learn_unpack.asm"
        include "learn_count.asm"
        include "learn_weigh.asm"
        include "learn_correct.asm"
        include "learn_pass.asm"
        include "learn_teach.asm"
        include "learn_shrink.asm"
learn_random:
        defw 1
learn_changed:
        defw 0
learn_digits:                           ; bias and score of each digit, u16
        defs 40
learn_examples:                         ; how many pictures of each class are examples of their own
        defb LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH
        defb LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH
learn_rows:
        defs 26
        defs 0 - $ + ($ + 15) / 16 * 16
learn_counts:
        defs 12 * 10 * 16
learn_end:
        defb 0                          ; pyz80 leaves room at the end out
