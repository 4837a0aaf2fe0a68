; The tape that learns: what lies where in a 48K.
;
; 0x4800     the counts, in the middle of the screen: you see them grow
; 0x5E00     the drawing; above it, up to 0x6000, BASIC's stack
; 0x6000     what need not be fast: screens, words, test pictures (the video chip slows code here)
; then       the pictures to learn from, then what must be fast: the lesson, the routines that learn, the drawing made upright
; app_log    the table of logarithms, the program's variables, and up to 0xFFFF what has been learned: a file on tape saves it
;
; The generated files: learn_constants, learn_line, learn_patches and learn_log_page as in learn.asm; app_texts, the words;
; app_tests, the test pictures; app_pictures, those to learn from.
        org  0x6000
        include "learn_constants.asm"
learn_counts: equ 0x4800
learn_weight_page: equ 0xCE00
        include "app_start.asm"
        include "enter.asm"
        include "app_screens.asm"
        include "leave.asm"
app_start_end:
        include "system.asm"
        include "keys.asm"
        include "screen.asm"
        include "text.asm"
        include "numbers.asm"
        include "bars.asm"
        include "verdict.asm"
        include "line_address.asm"
        include "mul_u16_u16.asm"
        include "div_u16_u8.asm"
        include "app_menu.asm"
        include "app_board.asm"
        include "app_small.asm"
        include "app_read.asm"
        include "app_tape.asm"
        include "app_teach.asm"
        include "draw.asm"
        include "pen.asm"
        include "canvas.asm"
        include "app_texts.asm"
        include "app_tests.asm"
learn_pictures:
        include "app_pictures.asm"
learn_pictures_end:
        include "app_lesson.asm"
        include "normalise.asm"
        include "learn_scores.asm"
        include "learn_code.asm"
        include "learn_unpack.asm"
        include "learn_count.asm"
        include "learn_weigh.asm"
        include "learn_correct.asm"
        include "learn_pass.asm"
        include "learn_teach.asm"
        include "learn_shrink.asm"
app_sp:
        defw 0                  ; where BASIC's return address lies
learn_changed:
        defw 0
learn_rows:
        defs 26
learn_examples:                 ; how many pictures of each digit are examples of their own
        defb LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH
        defb LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH, LEARN_OF_EACH
app_free:
        defs APP_LOG - $
learn_log_page:
        include "learn_log_page.asm"
        include "app_memory.asm"
