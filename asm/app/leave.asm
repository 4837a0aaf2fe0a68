; The end of the program: back to BASIC, as after a call of app_start.

app_leave:                      ; from wherever BREAK was seen
        ld   sp, (app_sp)
        ld   a, KEYS_SPACE_TO_B ; wait for SPACE to come up, or BASIC would read it
        in   a, (PORT_ULA)
        rra
        jr   nc, app_leave
        ld   a, (SYS_BORDCR)
        rra
        rra
        rra
        and  7
        out  (PORT_ULA), a
        ld   bc, (app_right)
        ld   b, 0
        ret
