"""Code for GPUs of NVIDIA, from the same lowering as that of the processor."""
