"""SpaceLib's sample programs (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7), each a file.

Every program is a function that returns what it computes, and one that writes the manual's layout.
"""
