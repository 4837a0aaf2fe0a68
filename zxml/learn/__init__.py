"""Learning as a Spectrum does it, without any multiplication: count, then correct. `asm/learn/` gives the same bits."""
