"""Machine code from a tape, with LLVM."""
