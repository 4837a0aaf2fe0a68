; The machine's own addresses and colours, by name. This file emits no bytes.
; Source     Vickers, ZX Spectrum BASIC Programming (1982), chapters 16 and 23 to 25;
;            Logan and O'Hara, The Complete Spectrum ROM Disassembly (1983)

ROM_BREAK_KEY:  equ 0x1F54      ; carry clear = CAPS SHIFT and SPACE are down; changes af only
ROM_FONT:       equ 0x3D00      ; 96 characters from the space on, 8 bytes each

SYS_BORDCR:     equ 23624       ; bits 3-5 = BASIC's border colour
SYS_FRAMES:     equ 23672       ; low byte of the ROM's count of interrupts

PORT_ULA:       equ 254         ; out: bits 0-2 = border; in: five keys of the half rows chosen by the high byte
KEYS_SPACE_TO_B: equ 0x7F       ; half row whose bit 0 is SPACE

TOP_THIRD:      equ 0x4000      ; first pixel line of character row 0
MIDDLE_THIRD:   equ 0x4800      ; of row 8
BOTTOM_THIRD:   equ 0x5000      ; of row 16
ATTRIBUTES:     equ 0x5800      ; 24 rows of 32 cells: bright * 64 + paper * 8 + ink

BLACK:          equ 0
RED:            equ 2
GREEN:          equ 4
CYAN:           equ 5
YELLOW:         equ 6
WHITE:          equ 7
BRIGHT:         equ 64
