; Time, measured on the machine itself. The unit is one turn of a loop of 23 T-states: first the turns that fit into one
; whole frame are counted, which takes the ROM's interrupt into account whatever it costs, then those left of the frame in
; which the net finishes. A frame is counted within a unit, so that a time of many frames is right within 0.04 %.

COUNT_SETUP:    equ 3           ; turns gone before the first one, 3.5, less what the last counts too much
TIME_OVERHEAD:  equ 5           ; turns from one count to the next that classify does not take

; time_classify - read a picture and measure how long that takes
; In         hl = picture
; Out        a = what classify returns;  hl = time, low word, in units of 23 T-states;  e = its high byte
; Clobbers   f bc d ix
; Bytes      81                 (with its stack)
; Needs      0x8000 or above; interrupts on; at most 5,500 frames for classify, 110 seconds
time_classify:
        push hl
        halt
        call count_to_frame
        ld   hl, (SYS_FRAMES)   ; hl = frame in which classify starts
        ex   (sp), hl           ; hl = picture
        push bc                 ; turns in a whole frame
        call classify
        ld   (timing_digit), a
        call count_to_frame     ; bc = turns left of the last frame
        ld   hl, TIME_OVERHEAD
        add  hl, bc
        pop  bc                 ; bc = turns in a whole frame
        ex   (sp), hl           ; hl = first frame
        ex   de, hl
        ld   hl, (SYS_FRAMES)
        sbc  hl, de             ; carry was clear
        ex   de, hl             ; de = frames gone, at least 1
        call mul_u16_u16        ; dehl = turns in all of them
        pop  bc                 ; bc = those that were not classify's
        or   a
        sbc  hl, bc
        jr   nc, time_classify_known
        dec  e
time_classify_known:
        ld   a, (timing_digit)
        ret

timing_digit:
        defb 0
timing_sp:
        defw 0                  ; the caller's sp
        defs 30                 ; the ROM's interrupt uses 22 bytes
timing_mark:
        defw 0                  ; where an interrupt pushes the address it returns to
timing_stack:

; count_to_frame - count turns of 23 T-states until the next interrupt
; Out        bc = turns
; Clobbers   f a hl
; Bytes      26
; Needs      0x8000 or above, so that a return address has a high byte that is not 0; interrupts on
; Stack      its own, in memory that the ULA does not slow
count_to_frame:
        ld   (timing_sp), sp
        ld   sp, timing_stack
        ld   hl, timing_mark + 1
        ld   (hl), 0
        ld   bc, COUNT_SETUP
        xor  a
count_to_frame_turn:            ; bc = turns so far, (hl) = 0 until the interrupt
        inc  bc                 ; [6]
        cp   (hl)               ; [7]
        jp   z, count_to_frame_turn ; [10]
        ld   sp, (timing_sp)
        ret
count_to_frame_end:
