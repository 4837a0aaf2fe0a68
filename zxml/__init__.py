"""Machine learning for the ZX Spectrum: train on any OpenCL device, prove it on the Z80."""

__version__ = "0.1.0"
