; What this is and how it was made.

; info - show one page of text, until a key leads elsewhere
; Bytes      11
info:
        ld   hl, text_info
        call print_text
info_wait:
        call next_key
        jr   info_wait
info_end:
