"""Operations of nets of any shape, forward and backward: one file of kernels and one wrapper each."""
