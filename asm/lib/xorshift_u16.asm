; xorshift_u16 - the next of 65,535 numbers in a random order; included where it is to run, without a return
; In         hl = number, never 0
; Out        hl = the next
; Clobbers   af
; T-states   56
; Bytes      14
; Source     George Marsaglia, Xorshift RNGs, 2003: the shifts 7, 9, 8
        ld   a, h
        rra
        ld   a, l
        rra
        xor  h
        ld   h, a               ; x ^= x << 7, its upper byte
        ld   a, l
        rra
        ld   a, h
        rra
        xor  l
        ld   l, a               ; its lower byte, and x ^= x >> 9
        xor  h
        ld   h, a               ; x ^= x << 8
