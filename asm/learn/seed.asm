; seed - a 48K that trains a convolutional net: the memory map, and all routines
;
; 0x6000     640 pictures of 8 bytes, their 640 labels, and the routines that run once
; 0x8000     weights: a page of filters, then a page a digit; upper bytes from 0, lower bytes from 128
; 0x8B00     velocities: the same again
; 0x9600     a page a filter: its table at even bytes 0..46, what it is taught at words 64..110
; 0xA200     three pixels of a row as patterns, 8 bytes a row, doubled; from 128 on the ten scores
; 0xA300     for each unit what it has to tell its filter, s8
; 0xA400     this file: routines and lines of code
; 0xC000     active units, 4 bytes each: unit, twice its level, winning window, page of its filter; 255 at the end
; 0xC200     products of levels 1 to 15: for each a page of lower and a page of upper bytes
        org  0x6000
seed_filters_page: equ 0x8000
seed_dense_page: equ 0x8100
seed_filters_velocity_page: equ 0x8B00
seed_dense_velocity_page: equ 0x8C00
seed_filter_page: equ 0x9600
seed_pattern_page: equ 0xA200
seed_score: equ 0xA280
seed_news_page: equ 0xA300
seed_list_page: equ 0xC000
seed_product_page: equ 0xC000
        include "seed_constants.asm"
seed_pictures:
        defs 640 * 8
seed_labels:
        defs 640
        include "seed_begin.asm"
        include "seed_epoch.asm"
seed_random:
        defw 1
seed_taught:
        defw 0
seed_errors_digit:                      ; for seed_teach
        defw SEED_DIGIT_LEAST, SEED_DIGIT_FAR, SEED_DIGIT_NEAR
seed_errors_other:
        defw SEED_OTHER_LEAST, SEED_OTHER_FAR, SEED_OTHER_NEAR
        defs 0x8000 - $
        defs 0xA400 - $
        include "seed_see.asm"
        include "seed_filters.asm"
        include "seed_scores.asm"
        include "seed_learn.asm"
        include "seed_teach.asm"
        include "seed_lessons.asm"
        include "seed_move.asm"
        include "seed_tables.asm"
seed_code_end:
        defs 0xC200 - $
        include "seed_products.asm"
seed_end:
