"""The net that a Spectrum trained in 2019, trained again with less arithmetic; `asm/learn/seed.asm` gives the same bits."""
