"""Training on any OpenCL device, with the integer arithmetic of the machine inside the training."""
