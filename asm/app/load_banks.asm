; What lies in banks of paged memory, loaded from the tape: a block without a header for each bank. BASIC calls this once.

BANKS_SEEN:     equ 0xC000      ; where a bank is seen
HOME_BANK:      equ 16          ; what selects it: 16 for the ROM of 48 BASIC, and the bank's number
OTHER_BANK:     equ 20          ; any other

; load_banks - load the banks, if this machine has them and lets them be selected
; Out        bc = 1 if they are loaded; 0 if there are none, and banks_missing = 1
; Clobbers   af de hl ix af'
; Bytes      92                 (with banks_missing and select_bank)
; Needs      bank_list: what selects a bank, then its length, a word, for each; then 0
; Writes     SYS_BANKM, so that BASIC knows which bank is selected: the home bank
load_banks:
        ld   hl, BANKS_SEEN
        ld   a, OTHER_BANK
        call select_bank
        ld   (hl), 255
        ld   a, HOME_BANK
        call select_bank
        ld   (hl), 0            ; the same byte, if there are no banks
        ld   a, OTHER_BANK
        call select_bank
        inc  (hl)               ; z = it is another
        ld   hl, bank_list
        jr   z, load_banks_next
        ld   a, 1
        ld   (banks_missing), a
        ld   bc, 0
        jr   load_banks_home
load_banks_next:                ; hl = where the next bank's entry lies
        ld   a, (hl)
        or   a
        ld   bc, 1
        jr   z, load_banks_home
        call select_bank
        inc  hl
        ld   e, (hl)
        inc  hl
        ld   d, (hl)
        inc  hl
        push hl
        ld   ix, BANKS_SEEN
        ld   a, 255             ; a block of data
        scf                     ; is to be loaded
        call ROM_LD_BYTES
        pop  hl
        jr   c, load_banks_next
        ld   a, HOME_BANK
        call select_bank
        rst  8
        defb TAPE_ERROR
load_banks_home:                ; bc = what to return
        push bc
        ld   a, HOME_BANK
        call select_bank
        pop  bc
        ret

banks_missing:
        defb 0

; select_bank - let a bank be seen
; In         a = what selects it
; Clobbers   bc
; T-states   45
; Bytes      9
select_bank:
        ld   (SYS_BANKM), a
        ld   bc, PORT_PAGING
        out  (c), a
        ret
load_banks_end:
