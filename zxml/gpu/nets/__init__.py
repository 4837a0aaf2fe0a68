"""Fused training of nets that are deeper than the product's, in real numbers, on pictures of bits."""
