"""The function behind a method: a NumPy ufunc, how much arithmetic it is, and the same function as C for a controller."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

import linkwise as lw

puma = lw.robots.puma560()
kernel = puma.kernel("forward_kinematics")
print(kernel)
print("operations:", kernel.operations)

q = np.linspace(-1, 1, 6)
pose = np.empty((4, 4))
kernel(q, out=pose)  # it is a ufunc: out=, broadcasting, float32

source = kernel.to_c()
print(source.splitlines()[0])
Path("kinematics.c").write_text(source)

compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if compiler is None:
    print("no C compiler here: kinematics.c is written, and not tried")
else:
    subprocess.run(
        [compiler, "-std=c99", "-O2", "-shared", "-fPIC", "kinematics.c", "-o", "kinematics.so", "-lm"], check=True
    )
    from_c = np.empty((4, 4))
    vector = ctypes.POINTER(ctypes.c_double)
    function = getattr(ctypes.CDLL("./kinematics.so"), kernel.name)
    function(q.ctypes.data_as(vector), from_c.ctypes.data_as(vector))
    print("greatest difference to C:", "below 1e-14" if np.abs(from_c - pose).max() < 1e-14 else "too large")
    assert np.abs(from_c - pose).max() < 1e-14
