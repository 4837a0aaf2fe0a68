; The machine's own addresses and colours, by name. This file emits no bytes.
; Source     Vickers, ZX Spectrum BASIC Programming (1982), chapters 16 and 23 to 25;
;            Logan and O'Hara, The Complete Spectrum ROM Disassembly (1983); Sinclair, Spectrum 128 Service Manual (1986)

TAPE_ERROR:     equ 26          ; what follows RST 8 for the report R Tape loading error

ROM_KEY_SCAN:   equ 0x028E      ; z = no more than one key and a shift are down, de = their numbers; changes af bc hl
ROM_K_TEST:     equ 0x031E      ; de = keys' numbers; carry set = a key is down, a = its capital; changes af bc de hl
ROM_BREAK_KEY:  equ 0x1F54      ; carry clear = CAPS SHIFT and SPACE are down; changes af only
ROM_LD_BYTES:   equ 0x0556      ; a = flag of a block, carry set, ix = where to load it, de = its length; carry set = it is loaded
ROM_FONT:       equ 0x3D00      ; 96 characters from the space on, 8 bytes each

SYS_BANKM:      equ 23388       ; what the paging port of a 128K was told last; on a 48K a part of the printer buffer
SYS_LAST_K:     equ 23560       ; the character of the key pressed last; the ROM sets bit 5 of FLAGS, iy + 1, with it
SYS_BORDCR:     equ 23624       ; bits 3-5 = BASIC's border colour
SYS_FRAMES:     equ 23672       ; the ROM's count of interrupts, three bytes

PORT_ULA:       equ 254         ; out: bits 0-2 = border; in: five keys of the half rows chosen by the high byte
PORT_PAGING:    equ 0x7FFD      ; out: bits 0-2 = bank seen from 0xC000 on, bit 4 = the ROM of 48 BASIC
PORT_KEMPSTON:  equ 31          ; in: right, left, down, up, fire in bits 0-4
KEYS_A_TO_G:    equ 0xFD        ; half rows: bit 0 is the outermost key
KEYS_Q_TO_T:    equ 0xFB
KEYS_1_TO_5:    equ 0xF7
KEYS_0_TO_6:    equ 0xEF
KEYS_P_TO_Y:    equ 0xDF
KEYS_SPACE_TO_B: equ 0x7F

TOP_THIRD:      equ 0x4000      ; first pixel line of character row 0
MIDDLE_THIRD:   equ 0x4800      ; of row 8
BOTTOM_THIRD:   equ 0x5000      ; of row 16
ATTRIBUTES:     equ 0x5800      ; 24 rows of 32 cells: bright * 64 + paper * 8 + ink

BLACK:          equ 0
BLUE:           equ 1
RED:            equ 2
GREEN:          equ 4
CYAN:           equ 5
YELLOW:         equ 6
WHITE:          equ 7
PAPER:          equ 8           ; times a colour
BRIGHT:         equ 64
