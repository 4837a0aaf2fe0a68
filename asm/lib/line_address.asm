; line_address - address of the first byte of a screen line
; In         a = line, 0..191
; Out        hl = address
; Clobbers   f a
; T-states   86
; Bytes      21
; Source     Vickers, ZX Spectrum BASIC Programming (1982), chapter 24: 010ttlll rrr00000, line ttrrrlll
line_address:
        ld   l, a
        and  7
        ld   h, a               ; h = line in its character row
        ld   a, l
        rra
        rra
        rra
        and  0x18
        or   0x40
        or   h
        ld   h, a               ; h = 010 third, line
        ld   a, l
        add  a, a
        add  a, a
        and  0xE0
        ld   l, a               ; l = row in its third * 32
        ret
line_address_end:
