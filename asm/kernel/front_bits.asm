; front_bits - features of 3 x 3 pixels, pooled by OR of 2 x 2, eight a byte; small tables rather than speed
;
; Three rows of the picture are shifted side by side, so that each new column is three bits and the last three columns are the
; number of the pattern: a position in the 512 bytes of each eight features. A pattern's features go into the place that pools it.
;
; In         hl = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel;  de = descriptor of 11 bytes: where the window starts
;            in the picture; the map; its bytes - 1; pixels to pass over in the first byte; rows and columns of the map; bytes of
;            a place; first page of the table
; Out        the map, bytes in raster order
; Clobbers   af bc de hl ix
; T-states   exact in the shapes: the Cost of the kernel front_bits
; Bytes      198
; Needs      tables of 512 bytes, each from a page of even number
front_bits:
        push hl
        ex   de, hl
        ld   de, front_bits_start
        ld   bc, 11
        ldir
        pop  hl
        ld   de, (front_bits_start)
        add  hl, de
        ld   (front_bits_source), hl
        ld   hl, (front_bits_map)
        ld   d, h
        ld   e, l
        push hl
        inc  de
        ld   bc, (front_bits_last)
        ld   (hl), 0
        ldir
        pop  de
        exx
        push bc
        push de
        push hl
        exx
        ld   a, (front_bits_rows)
        ld   ixh, a
front_bits_places:                      ; de = first byte of a row of places, ixh = rows of places left
        ld   ixl, 2
front_bits_row:                         ; ixl = rows of patterns left in the row of places
        push de
        exx
        ld   hl, (front_bits_source)
        push hl
        call front_bits_load
        pop  hl
        inc  hl
        inc  hl
        inc  hl
        inc  hl
        ld   (front_bits_source), hl
        exx
        ld   a, (front_bits_skip)
        add  a, 2                       ; the first pattern ends in the third column
        ld   b, a
front_bits_first:
        call front_bits_column
        djnz front_bits_first
        ld   a, (front_bits_cols)
        ld   b, a
front_bits_place:                       ; de = place, b = places left in the row, l = the last columns
        push de
        call front_bits_column
        call front_bits_look
        pop  de
        call front_bits_column
        call front_bits_look
        djnz front_bits_place
        pop  hl
        dec  ixl
        jr   z, front_bits_next
        ex   de, hl
        jr   front_bits_row
front_bits_next:
        dec  ixh
        jr   nz, front_bits_places
        exx
        pop  hl
        pop  de
        pop  bc
        exx
        ret

front_bits_load:                        ; hl = a byte of the first row: e = 8 pixels of each row in d, c and b
        ld   d, (hl)
        inc  hl
        push hl
        inc  hl
        inc  hl
        inc  hl
        ld   c, (hl)
        inc  hl
        inc  hl
        inc  hl
        inc  hl
        ld   b, (hl)
        pop  hl
        ld   (front_bits_next_byte), hl
        ld   e, 8
        ret

front_bits_column:                      ; l = the last columns, gets a new one: hl = the pattern's place in the first table
        exx
        ld   a, e
        or   a
        ld   hl, (front_bits_next_byte)
        call z, front_bits_load
        dec  e
        xor  a
        sla  d
        rla
        sla  c
        rla
        sla  b
        rla
        exx
        add  hl, hl
        add  hl, hl
        add  hl, hl
        or   l
        ld   l, a
        ld   a, (front_bits_page)
        srl  h
        adc  a, 0
        ld   h, a
        ret

front_bits_look:                        ; hl = the pattern's place in the first table: its features into the place at de
        ld   a, (front_bits_groups)
        ld   c, a
front_bits_group:
        ld   a, (de)
        or   (hl)
        ld   (de), a
        inc  de
        inc  h
        inc  h
        dec  c
        jr   nz, front_bits_group
        ret

front_bits_start:
        defw 0
front_bits_map:
        defw 0
front_bits_last:
        defw 0
front_bits_skip:
        defb 0
front_bits_rows:
        defb 0
front_bits_cols:
        defb 0
front_bits_groups:
        defb 0
front_bits_page:
        defb 0
front_bits_source:                      ; the first byte of the next row of patterns
        defw 0
front_bits_next_byte:
        defw 0
