"""Functions of a robot as C for a controller, with a program that tests them, and the same functions as Python and Rust."""

import shutil
import subprocess

import linkwise as lw
from linkwise.export import export

puma = lw.robots.puma560()
kernel = puma.kernel("forward_kinematics")
print(kernel)
print(kernel.to_c().signature)

# Several functions in one pair of files. Nothing but math.h is needed, nothing is allocated, nothing is kept between calls.
made = export(puma, ["forward_kinematics", "jacobian", "inverse_dynamics"], name="puma", precision="single")
for path in made.write("out/in_c", force=True):
    print("wrote", path.name)
for name, operations in made.operations.items():
    print(f"{name}: {operations['mul']} products, {operations['add']} sums")

# The test has random points, what the compiled functions here give there, and how far rounding can be off from that.
compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if compiler is None:
    print("no C compiler here: the files are written, and not tried")
else:
    files = ["puma.c", "puma_test.c", "-o", "puma_test", "-lm"]
    subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-O2", *files], check=True, cwd="out/in_c")
    print(subprocess.run(["./puma_test"], check=True, cwd="out/in_c", capture_output=True, text=True).stdout, end="")

# Numbers that are symbols become an input, and what depends on them alone a function of its own, for when they change.
arm = puma.without_friction().symbolic("inertial")
for function in arm.kernel("inverse_dynamics").to_c().functions:
    print(f"{function.name}: {function.tape.operations['mul']} products, {function.tape.operations['add']} sums")

# The same in other languages: for readers, for gradients, for a GPU, for Rust.
languages = {"Python": kernel.to_python(), "JAX": kernel.to_jax(), "CUDA": kernel.to_cuda(), "Rust": kernel.to_rust()}
print({language: f"{len(source.splitlines())} lines" for language, source in languages.items()})
