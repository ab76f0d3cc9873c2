"""Computed torque on a PUMA 560 at 1 kHz in C: exported functions, a loop that keeps time, and the same loop in Python."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise.export import export

model = lw.robots.puma560().without_friction()  # what the controller knows
plant = model.with_payload(mass=1.0, com=(0.0, 0.0, 0.1))  # what it moves: 1 kg that it does not know
start, end = np.radians([-60, 30, -120, 0, 30, 0]), np.radians([60, 75, -60, 90, -45, 120])
CYCLES, DT, MOVE, BANDWIDTH = 2000, 1e-3, 1.5, 40.0

# The law: inverse dynamics of the acceleration that is wanted, plus that of a damped spring for the error. The arm itself is
# simulated in the same loop, by the simplest method: speeds first, positions with the new speeds.
LOOP = """#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "controller.h"
#include "plant.h"

#define CYCLES {cycles}

static const double from[6] = {{{start}}}, to[6] = {{{end}}};
static double spent[CYCLES], late[CYCLES];

static double seconds_since(const struct timespec *t)
{{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + 1e-9 * (double)(now.tv_nsec - t->tv_nsec);
}}

static int by_size(const void *a, const void *b)
{{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}}

int main(void)
{{
    double q[6], qd[6] = {{0}}, qdd[6], tau[6], wanted[6], error = 0.0;
    struct timespec next, begin;
    for (int k = 0; k < 6; k++) q[k] = from[k];
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int cycle = 0; cycle < CYCLES; cycle++) {{
        const double wait = -seconds_since(&next);
        if (wait > 0.0) {{
            const struct timespec rest = {{0, (long)(1e9 * wait)}};
            nanosleep(&rest, NULL);
        }}
        late[cycle] = seconds_since(&next);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        const double s = fmin(cycle * {dt} / {move}, 1.0);
        for (int k = 0; k < 6; k++) {{
            const double way = to[k] - from[k];
            const double q_ref = from[k] + way * (s * s * s * (10.0 + s * (-15.0 + 6.0 * s)));
            const double qd_ref = way * (s * s * (30.0 + s * (-60.0 + 30.0 * s))) / {move};
            const double qdd_ref = way * (s * (60.0 + s * (-180.0 + 120.0 * s))) / ({move} * {move});
            error = fmax(error, fabs(q_ref - q[k]));
            wanted[k] = qdd_ref + 2.0 * {bandwidth} * (qd_ref - qd[k]) + {bandwidth} * {bandwidth} * (q_ref - q[k]);
        }}
        inverse_dynamics(q, qd, wanted, tau);
        spent[cycle] = seconds_since(&begin);
        plant_forward_dynamics(q, qd, tau, qdd);
        for (int k = 0; k < 6; k++) {{
            qd[k] += {dt} * qdd[k];
            q[k] += {dt} * qd[k];
        }}
        next.tv_nsec += 1000000;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
    }}
    qsort(spent, CYCLES, sizeof(double), by_size);
    qsort(late, CYCLES, sizeof(double), by_size);
    printf("%.17g %g %g %g %g\\n", error, spent[CYCLES / 2], spent[CYCLES - 1], late[CYCLES / 2], late[CYCLES - 1]);
    return 0;
}}
"""


def in_python() -> float:
    """The same loop with the compiled functions of this process, as fast as it goes; the largest error, rad."""
    q, qd, error = start.copy(), np.zeros(6), 0.0
    for cycle in range(CYCLES):
        s, way = min(cycle * DT / MOVE, 1.0), end - start
        q_ref = start + way * (s * s * s * (10.0 + s * (-15.0 + 6.0 * s)))
        qd_ref = way * (s * s * (30.0 + s * (-60.0 + 30.0 * s))) / MOVE
        qdd_ref = way * (s * (60.0 + s * (-180.0 + 120.0 * s))) / (MOVE * MOVE)
        error = max(error, np.abs(q_ref - q).max())
        wanted = qdd_ref + 2.0 * BANDWIDTH * (qd_ref - qd) + BANDWIDTH * BANDWIDTH * (q_ref - q)
        tau = model.inverse_dynamics(q, qd, wanted)
        qd = qd + DT * plant.forward_dynamics(q, qd, tau)
        q = q + DT * qd
    return float(error)


folder = Path("out/controller")
export(model, "inverse_dynamics", name="controller", self_test=False).write(folder, force=True)
export(plant, "forward_dynamics", name="plant", prefix="plant_", self_test=False).write(folder, force=True)
places = {"start": ", ".join(map(repr, start.tolist())), "end": ", ".join(map(repr, end.tolist()))}
(folder / "main.c").write_text(LOOP.format(cycles=CYCLES, dt=DT, move=MOVE, bandwidth=BANDWIDTH, **places))

expected = in_python()
print(f"in Python: at most {1e3 * expected:.3f} mrad off the way")
compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if compiler is None or sys.platform == "win32":
    print("no POSIX C compiler here: the sources are in out/controller")
else:
    files = ["main.c", "controller.c", "plant.c", "-o", "main", "-lm"]
    subprocess.run([compiler, "-std=c99", "-O2", "-Wall", "-Wextra", *files], check=True, cwd=folder)
    said = subprocess.run(["./main"], check=True, cwd=folder, capture_output=True, text=True).stdout
    error, median, worst, late, latest = map(float, said.split())
    print(f"in C:      at most {1e3 * error:.3f} mrad off the way")
    print(f"{CYCLES} cycles at 1 kHz: the law takes {1e6 * median:.1f} us (median), {1e6 * worst:.1f} us (worst)")
    print(f"woken {1e6 * late:.0f} us late (median), {1e6 * latest:.0f} us (worst)")
    assert abs(error - expected) < 1e-9  # rounding alone, in a loop that forgets it
