"""`plan` on a public set of problems, beside OMPL where it is installed: ``python benchmarks/planning.py FOLDER [COUNT]``.

The problems are those of MotionBenchMaker for the Panda (C. Chamzas et al., IEEE Robotics and Automation Letters 7(2), 2022)
as the repository KavrakiLab/vamp has them: the folder is its ``resources/panda`` in a fetched copy, with
``panda_spherized.urdf``, ``panda.srdf`` and ``problems.tar.bz2``: seven scenes, 100 problems each, of which COUNT are taken.
The robot is that of the URDF, 59 spheres. Every path is checked at half of `plan`'s resolution with coal, whose spheres,
boxes and cylinders are those of the scene, and pairs of spheres of the robot in NumPy; nothing of that goes through the
distance kernels of `plan`.

Time is that of `plan` alone on one core, after one call that compiles: places and sizes of obstacles are numbers of a task.
OMPL's RRTConnect, with simplification, takes the first problems of each scene, over the same kernel, in steps of a
hundredth of the extent of the ranges.
"""

import itertools
import re
import sys
import tarfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import ompl_peer
import yaml

import linkwise as lw
from linkwise.errors import ArgumentError

try:
    import coal
except ImportError:
    sys.exit("this benchmark needs coal: pip install coal")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
RESOLUTION, PEERS = 0.01, 5


def frame(pose):
    x, y, z, w = pose["orientation"]
    T = np.eye(4)
    T[:3, :3] = np.eye(3) + 2 * np.array(
        [[-y * y - z * z, x * y - z * w, x * z + y * w],
         [x * y + z * w, -x * x - z * z, y * z - x * w],
         [x * z - y * w, y * z + x * w, -x * x - y * y]]
    )  # fmt: skip
    T[:3, 3] = pose["position"]
    return T


def obstacles_of(scene):
    """Shapes of a scene, boxes first, so that scenes with as many of each kind are one compiled kernel."""
    shapes = []
    for item in scene["world"]["collision_objects"]:
        place = frame(item["pose"]) if "pose" in item else np.eye(4)
        for primitive, pose in zip(item["primitives"], item["primitive_poses"], strict=True):
            size = primitive["dimensions"]
            size = size[::-1] if primitive["type"] == "cylinder" else size
            shapes.append(lw.Shape("world", primitive["type"], size, origin=place @ frame(pose)))
    return sorted(shapes, key=lambda shape: shape.kind)


def problems_of(archive, names):
    """(scene's name, number, obstacles, start, goals) of each problem."""
    files = defaultdict(dict)
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                _, scene, name = member.name.split("/")
                kind, number = re.fullmatch(r"(scene|request)(\d+)\.yaml", name).groups()
                files[scene, int(number)][kind] = yaml.load(tar.extractfile(member).read(), LOADER)
    for (scene, number), both in sorted(files.items()):
        state = both["request"]["start_state"]["joint_state"]
        start = dict(zip(state["name"], state["position"], strict=True))
        goals = [
            {joint["joint_name"]: joint["position"] for joint in goal["joint_constraints"]}
            for goal in both["request"]["goal_constraints"]
        ]
        rows = [[values[name] for name in names] for values in (start, *goals)]
        yield scene, number, obstacles_of(both["scene"]), np.array(rows[0]), np.array(rows[1:])


class Checker:
    """Whether configurations touch, by coal and NumPy alone."""

    def __init__(self, arm, disabled):
        self.arm, self.shapes = arm, [shape for shape in arm.shapes if shape.role == "collision"]
        self.links = [arm.link_names.index(shape.link) for shape in self.shapes]
        self.radii = np.array([shape.size[0] for shape in self.shapes])
        fixed = arm.link_names
        off = {frozenset(pair[:2]) for pair in disabled}
        bodies = {}
        for link in arm.links:
            bodies[link.name] = link.name if link.moves else bodies.get(link.parent, "base")
        joined = {frozenset((bodies[link.name], bodies.get(link.parent, "base"))) for link in arm.links if link.moves}
        n = len(self.shapes)
        both = lambda i, j: frozenset((bodies[fixed[self.links[i]]], bodies[fixed[self.links[j]]]))  # noqa: E731
        self.pairs = np.array(
            [(i, j) for i in range(n) for j in range(i)
             if len(both(i, j)) == 2 and both(i, j) not in joined
             and frozenset((fixed[self.links[i]], fixed[self.links[j]])) not in off]
        )  # fmt: skip
        self.moving = [k for k in range(n) if bodies[fixed[self.links[k]]] != "base"]

    def touches(self, q, obstacles):
        """Whether any of configurations (N, 7) touches."""
        world = coal.DynamicAABBTreeCollisionManager()
        kinds = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere}
        held = []
        for shape in obstacles:
            T = np.asarray(shape.origin)
            held.append(
                coal.CollisionObject(kinds[shape.kind](*shape.size), coal.Transform3s(T[:3, :3].copy(), T[:3, 3].copy()))
            )
            world.registerObject(held[-1])
        world.setup()
        balls = [coal.CollisionObject(coal.Sphere(self.radii[k])) for k in self.moving]
        poses = self.arm.link_poses(q)[:, self.links]
        local = np.array([np.asarray(shape.origin)[:3, 3] for shape in self.shapes])
        centres = (poses[..., :3, :3] @ local[..., None])[..., 0] + poses[..., :3, 3]
        i, j = self.pairs.T
        gaps = np.linalg.norm(centres[:, i] - centres[:, j], axis=-1) - self.radii[i] - self.radii[j]
        if gaps.min() < 0:
            return True
        robot = coal.DynamicAABBTreeCollisionManager()
        for ball in balls:
            robot.registerObject(ball)
        robot.setup()
        for row in centres[:, self.moving]:
            for ball, centre in zip(balls, row, strict=True):
                ball.setTranslation(centre)
                ball.computeAABB()
            robot.update()
            callback = coal.CollisionCallBackDefault()
            world.collide(robot, callback)
            if callback.data.result.isCollision():
                return True
        return False


def fine(path, levers, step):
    parts = [path[:1]]
    for a, b in itertools.pairwise(path):
        count = max(1, int(np.ceil(np.abs(b - a) @ levers / step)))
        parts.append(a + (b - a) * (np.arange(1, count + 1) / count)[:, None])
    return np.concatenate(parts)


def main(folder, count):
    arm = lw.load(folder / "panda_spherized.urdf")
    disabled = lw.files.read_srdf(folder / "panda.srdf", arm).disabled_collisions
    checker = Checker(arm, disabled)
    from linkwise.clearance.pairs import collision_shapes
    from linkwise.clearance.reach import levers
    from linkwise.clearance.shapes import obstacle_set

    lever, warm = levers(collision_shapes(arm, disabled)), set()
    rows, peers, bad = defaultdict(list), defaultdict(list), 0
    for scene, number, obstacles, start, goals in problems_of(folder / "problems.tar.bz2", arm.names):
        if number > count:
            continue
        kinds = obstacle_set(obstacles).kinds
        try:
            if kinds not in warm:
                begin = time.process_time()
                arm.plan(start, goals, obstacles, disabled=disabled, iterations=1)
                warm.add(kinds)
                print(
                    f"{scene} {number}: {kinds} compiled in {time.process_time() - begin:.1f} s", file=sys.stderr, flush=True
                )
            begin = time.process_time()
            path = arm.plan(start, goals, obstacles, disabled=disabled, resolution=RESOLUTION)
            seconds = time.process_time() - begin
        except ArgumentError as error:
            truth = checker.touches(np.array([start, *goals]), obstacles)
            print(
                f"{scene} {number}: {'touches, coal says too' if truth else 'NOT by coal'}: {error}",
                file=sys.stderr,
                flush=True,
            )
            rows[scene].append((np.nan, "touches" if truth else "refused"))
            continue
        if path.success and checker.touches(fine(path.q, lever, 0.5 * RESOLUTION), obstacles):
            bad += 1
            print(f"{scene} {number}: THE PATH TOUCHES", file=sys.stderr, flush=True)
        rows[scene].append((seconds, "solved" if path.success else "not found"))
        if not path.success:
            print(f"{scene} {number}: {path} {seconds:.2f} s", file=sys.stderr, flush=True)
        if ompl_peer.installed() and number <= PEERS:
            shapes = collision_shapes(arm, disabled)
            peers[scene].append(ompl_peer.rrt_connect(shapes, obstacle_set(obstacles), start, goals[0]))
    print(
        "scene                    problems  start or goal touches  solved  not found"
        "   ms: median     90 %   worst   OMPL median"
    )
    rows["all"] = [row for scene in list(rows) for row in rows[scene]]
    peers["all"] = [row for scene in list(peers) for row in peers[scene]]
    for scene, results in rows.items():
        words = [word for _, word in results]
        times = 1e3 * np.array([seconds for seconds, word in results if word in ("solved", "not found")])
        other = [1e3 * (10.0 if seconds is None else seconds) for seconds in peers[scene]]
        touching = f"{words.count('touches')} (+ {words.count('refused')} by our bounds)"
        print(
            f"{scene:25}{len(results):8}{touching:>24}{words.count('solved'):7}{words.count('not found'):11}"
            f"{np.median(times):13.1f}{np.quantile(times, 0.9):9.1f}{times.max():8.1f}"
            f"{np.median(other) if other else np.nan:13.1f}"
        )
    print(f"paths that touch at half the resolution by coal: {bad}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100)
