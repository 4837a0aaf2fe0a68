; front_codes - features of 3 x 3 pixels, pooled by OR of 2 x 2, and their codes compiled into the line of code_sum
;
; Rows come in twos. A place looks at its four columns of the last two rows and of two new ones: rld puts a row's four pixels
; into the place's state and leaves the oldest row's in a, as a table page; the state is then the position in the page. The code
; of the nine places of a row is generated; where a page ends within a row, that looks for its end.
;
; In         hl = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel
; Out        code_line and its entries; the map of features, a byte a place, if the generated code keeps it
; Clobbers   af bc de hl ix
; T-states   exact in the picture: the Cost of the kernel front_codes counts places with a pixel and places with a code
; Bytes      97, and 709 of generated places, or 769 where they keep the map
; Needs      front_table_page in a block of 4096 bytes, front_pattern_page, front_code_page, front_state;
;            FRONT_TOP = bytes above the window, front_start = bc of the first row of places, and what c and a are at the end
;            of the first page that ends with a row and of the last: FRONT_PAGE_END, FRONT_END; FRONT_PAGE_PLACES = places up to
;            the next such; FRONT_SPLIT = 1 if other pages end within rows, or 0; FRONT_LAST_OPERAND, FRONT_BLOCK = bytes of a
;            block of the line
; Writes     own code (front_limit, front_entry)
front_codes:
        ld   de, FRONT_TOP
        add  hl, de
        push hl
        pop  ix
        ex   af, af'
        push af
        exx
        push bc
        push de
        push hl
        ld   bc, front_start
        ld   hl, code_sum_entry
        ld   (front_entry), hl
        ld   de, code_sum_line + FRONT_LAST_OPERAND
        ld   h, front_code_page / 256
        exx
        ld   a, FRONT_PAGE_END
        ld   (front_limit), a
        ld   hl, front_state
        include "front_first.asm"
front_row:                              ; ix = last two rows; the alternate c = places so far, de = next operand
        ld   bc, 8
        add  ix, bc
        ld   hl, front_state
        include "front_row.asm"
        cp   0                          ; a = c after the row
front_limit: equ $ - 1
        jp   nz, front_row
        if   FRONT_SPLIT > 0
        call front_turn
        else
        include "front_turn.asm"
        endif
        cp   FRONT_END
        jr   z, front_end
        add  a, FRONT_PAGE_PLACES
        cp   FRONT_END
        jr   c, front_next
        ld   a, FRONT_END               ; the last page has fewer places
front_next:
        ld   (front_limit), a
        jp   front_row
front_end:
        exx
        pop  hl
        pop  de
        pop  bc
        exx
        pop  af
        ex   af, af'
        ret

        if   FRONT_SPLIT > 0
front_turn:                             ; a is kept, and all that is not alternate
        include "front_turn.asm"
        ret
        endif
