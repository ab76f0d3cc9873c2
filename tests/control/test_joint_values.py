"""All joints at once, and ports under the names of joints: a loop over a URDF needs to know no link."""

import copy
from pathlib import Path

import numpy as np
import pytest

from linkwise import Link, Mechanism, control
from linkwise.control.ports import UnknownPortError
from linkwise.errors import ArgumentError, FileError, ModelError


def lifting() -> Mechanism:
    """A turning joint with a name of its own, a slide with one, and a turning joint with that of its link."""
    links = [
        Link(name="post", joint="revolute", joint_name="pan"),
        Link(name="carriage", joint="prismatic", joint_name="lift", parent="post", after=np.diag([1.0, 1.0, 1.0, 1.0])),
        Link(name="arm", joint="revolute", axis=[0, 1, 0], parent="carriage"),
        Link(name="tip", joint="fixed", parent="arm", before=[[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
    ]
    return Mechanism(links, name="lifter")


MECHANISM = lifting()


@pytest.fixture
def chain() -> control.Chain:
    return control.Chain(MECHANISM, control.MovingPosition("target", "tip", [0.4, 0.2, 0.3]), q0=[0.1, 0.2, 0.3])


def test_a_joint_may_stand_for_its_link(chain: control.Chain) -> None:
    chain["pan.max_theta_speed"] = 1.5
    chain["lift.limits.max"] = 0.9
    assert (chain["post.max_theta_speed"], chain["carriage.limits.max"]) == (1.5, 0.9)
    assert chain.step(0.01)
    for there, here in (("pan.predicted_theta", "post.predicted_theta"), ("lift.d_solved", "carriage.d_solved")):
        assert chain[there] == chain[here]
        assert chain.ports[there] is chain.ports[here]
        assert there in chain.ports
        assert there not in list(chain.ports)
    assert np.array_equal(chain["lift.world_position"], chain["carriage.world_position"])
    assert chain.ports.find("pan.theta", "lift.limits.*") == ("post.theta", "carriage.limits.min", "carriage.limits.max",
                                                              "carriage.limits.reached")  # fmt: skip


def test_routes_and_views_take_it_too(chain: control.Chain) -> None:
    chain.ports.unroute("pan.theta")
    chain.ports.route("pan.predicted_theta", "pan.theta")
    assert chain.ports.routes["post.theta"] == "post.predicted_theta"
    with pytest.raises(ArgumentError, match=r"'pan\.theta'.*'post\.predicted_theta'.*'pan\.theta'"):
        chain["pan.theta"] = 0.0
    with pytest.raises(ArgumentError, match="is fed by"):
        chain.ports.route("post.theta_solved", "pan.theta")
    chain.ports.unroute("post.theta")
    with pytest.raises(ArgumentError, match=r"'pan\.theta' is not routed"):
        chain.ports.unroute("pan.theta")
    chain.ports.view("pan.theta")[...] = 0.25
    assert chain["post.theta"] == 0.25
    chain.ports.reroute({"lift.d": "lift.predicted_d"})
    assert chain.ports.routes == {"carriage.d": "carriage.predicted_d"}
    again = copy.deepcopy(chain)
    assert again["pan.theta"] == 0.25


def test_first_values_and_routes_of_a_chain_take_it() -> None:
    made = control.Chain(MECHANISM, q0=[0.1, 0.2, 0.3], ports={"pan.theta": 0.4}, routes={"lift.d": ""})
    assert made.ports.routes == {"arm.theta": "arm.theta_solved"}
    assert made["post.theta"] == 0.4


def test_what_the_chain_calls_so_itself_comes_first() -> None:
    named = Mechanism([Link(name="a", joint="revolute", joint_name="b"), Link(name="b", joint="revolute", joint_name="c")])
    made = control.Chain(named, control.DrivenJoint("c", "a"), q0=[0.1, 0.2])
    assert (made["b.theta"], made["a.theta"]) == (0.2, 0.1)  # the link b, not the joint b
    assert "c.theta" not in made.ports  # the constraint c has other ports


def test_near_names_of_joints_are_told(chain: control.Chain) -> None:
    with pytest.raises(UnknownPortError, match=r"did you mean 'pan\.predicted_theta'"):
        chain["pan.predicted_thta"]


CHAIN = """format = "linkwise chain 1"
mechanism = "lifter.toml"
[routes]
"pan.theta" = ""
[ports]
"pan.theta" = 0.5
"""


def test_a_file_may_say_it(tmp_path: Path) -> None:
    from linkwise import files

    files.save(MECHANISM, tmp_path / "lifter.toml")
    (tmp_path / "chain.toml").write_text(CHAIN)
    made = control.load(tmp_path / "chain.toml")
    assert (made["post.theta"], "post.theta" in made.ports.routes) == (0.5, False)
    (tmp_path / "chain.toml").write_text(CHAIN + '"post.theta" = 0.6\n')
    with pytest.raises((FileError, ModelError), match=r"6.*'pan\.theta'.*'post\.theta'"):
        control.load(tmp_path / "chain.toml")


def test_all_joints_at_once_are_the_ports(chain: control.Chain) -> None:
    chain["target.velocity"] = [0.1, 0.0, 0.0]
    chain.step(0.01)
    ports = {"solved_q": "post.theta_solved carriage.d_solved arm.theta_solved",
             "predicted_q": "post.predicted_theta carriage.predicted_d arm.predicted_theta",
             "calculated_qd": "post.calculated_theta_speed carriage.calculated_d_speed arm.calculated_theta_speed",
             }  # fmt: skip
    for what, names in ports.items():
        assert getattr(chain, what).tolist() == [chain[name] for name in names.split()]
    kept = chain.predicted_q
    assert not np.array_equal(kept, chain.solved_q)
    before = kept.copy()
    chain.step(0.01)
    assert np.array_equal(kept, before)  # a copy, not a view


def test_feed_is_what_unrouting_and_writing_is(chain: control.Chain) -> None:
    other = copy.deepcopy(chain)
    chain.feed([0.3, 0.1, 0.2], [0.0, 0.5, 0.0])
    for name, value in {"post.theta": 0.3, "carriage.d": 0.1, "arm.theta": 0.2}.items():
        other.ports.unroute(name)
        other[name] = value
    other["carriage.d_speed"] = 0.5
    assert chain.ports.values.tobytes() == other.ports.values.tobytes()
    assert chain.ports.routes == {}
    assert (chain.step(0.01), other.step(0.01)) == (True, True)
    assert chain.ports.values.tobytes() == other.ports.values.tobytes()
    chain.feed([0.3, np.nan, 0.2])
    assert chain["carriage.d_speed"] == 0.5
    chain.step(0.01)
    assert chain.reason == "input"


@pytest.mark.parametrize("wrong", [[0.1, 0.2], 0.1, "abc", [[0.1, 0.2, 0.3]]])
def test_feed_refuses_and_changes_nothing(chain: control.Chain, wrong: object) -> None:
    before, routes = chain.ports.values.copy(), chain.ports.routes
    for given in ((wrong,), ([0.0, 0.0, 0.0], wrong)):
        with pytest.raises(ArgumentError, match=r"(one|a number) for each joint"):
            chain.feed(*given)
    assert np.array_equal(chain.ports.values, before)
    assert chain.ports.routes == routes
