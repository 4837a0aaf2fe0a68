; What has been learned, to tape and from tape, as a file of type CODE.

ROM_SA_BYTES:   equ 0x04C2      ; ix = first byte, de = bytes, a = flag
SYS_ERR_NR:     equ 23610       ; the report to come, less one
SYS_ERR_SP:     equ 23613       ; where the stack pointer goes after an error
STATE_LENGTH:   equ 0x10000 - learn_weight_page + STATE_BYTES
HEADER_NBYTES:  equ 17
HEADER_FLAG:    equ 0
DATA_FLAG:      equ 255
GAP_FRAMES:     equ 50

; save - write what has been learned to tape, until a key leads elsewhere
; Bytes      73
save:
        ld   hl, text_save
        call print_text
        call must_have_learned
        call show_memory
        ld   hl, text_save_how
        call print_text
        call wait_for_start
        ld   hl, text_saving
        call print_text
        call tape_begin
        push hl
        ld   (SYS_ERR_SP), sp
        ld   ix, tape_header
        ld   de, HEADER_NBYTES
        xor  a                  ; HEADER_FLAG
        call ROM_SA_BYTES
        ld   b, GAP_FRAMES
save_gap:
        halt
        djnz save_gap
        ld   ix, state
        ld   de, STATE_LENGTH
        ld   a, DATA_FLAG
        call ROM_SA_BYTES
        pop  hl
        call tape_end
        ld   hl, text_saved
        jp   tape_tell

; fetch - read what has been learned from tape, until a key leads elsewhere
; Bytes      221
fetch:
        ld   hl, text_fetch
        call print_text
        call show_memory
        call wait_for_start
        ld   hl, text_fetching
        call print_text
        call tape_begin
        push hl
        ld   (SYS_ERR_SP), sp
fetch_header:
        ld   ix, picture
        ld   de, HEADER_NBYTES
        xor  a                  ; HEADER_FLAG
        scf
        call ROM_LD_BYTES
        jr   nc, fetch_header   ; no header
        ld   hl, picture
        ld   de, tape_header
        ld   b, HEADER_NBYTES
fetch_compare:
        ld   a, (de)
        cp   (hl)
        jr   nz, fetch_other
        inc  de
        inc  hl
        djnz fetch_compare
        ld   hl, text_loading
        call print_text
        ld   a, 1
        ld   (tape_spoils), a
        ld   ix, state
        ld   de, STATE_LENGTH
        ld   a, DATA_FLAG
        scf
        call ROM_LD_BYTES
        pop  hl
        jr   nc, fetch_error
        call tape_end
        call show_memory
        ld   hl, text_fetched
        call print_text
        ld   de, AT_LEARNED
        call tell_learned
        jp   wait_for_screen
fetch_error:
        call tape_lost
        ld   hl, text_error
        jr   tape_tell

fetch_other:                    ; tell the name of another file, and go on
        ld   hl, text_other
        call print_text
        ld   hl, picture + 1
        ld   b, 10
fetch_other_letter:
        ld   a, (hl)
        inc  hl
        cp   127
        jr   nc, fetch_other_odd
        cp   32
        jr   nc, fetch_other_print
fetch_other_odd:
        ld   a, 63              ; a question mark
fetch_other_print:
        call print_char
        djnz fetch_other_letter
        jr   fetch_header

tape_broken:                    ; BREAK: the ROM comes here with the stack as after tape_begin
        ld   a, 255
        ld   (SYS_ERR_NR), a    ; no report
        call tape_lost
        ld   hl, text_broken
tape_tell:
        call print_text
        jp   wait_for_screen

tape_begin:                     ; out: hl = what to push before sp goes to ERR_SP
        ld   hl, (SYS_ERR_SP)
        ld   (tape_err_sp), hl
        xor  a
        ld   (tape_spoils), a
        ld   hl, tape_broken
        ret

tape_lost:                      ; if loading has spoilt what had been learned, it is gone
        ld   a, (tape_spoils)
        or   a
        jr   z, tape_end
        xor  a
        ld   (state_stage), a
        ld   (state_points), a
tape_end:                       ; errors are BASIC's again
        ld   hl, (tape_err_sp)
        ld   (SYS_ERR_SP), hl
        xor  a
        out  (PORT_ULA), a      ; black border
        ret

wait_for_start:                 ; wait for ENTER
        call next_key
        cp   KEY_ENTER
        jr   nz, wait_for_start
        ret

tape_header:
        defb 3                  ; CODE
        defb 108, 101, 115, 115, 111, 110, 115, 32, 32, 32 ; lessons
        defw STATE_LENGTH, state, 0x8000
app_tape_end:
