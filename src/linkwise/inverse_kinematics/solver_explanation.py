"""Explanation of the solver chosen for a frame, in words."""

from __future__ import annotations

from linkwise.errors import members
from linkwise.inverse_kinematics.branches.configuration import WORDS, labels_of
from linkwise.inverse_kinematics.closed_form import closed_form
from linkwise.inverse_kinematics.closed_form.axis_chain import EXACT, chain_of
from linkwise.inverse_kinematics.closed_form.elimination import degree_of, eliminates, most_solutions
from linkwise.model.tree import Tree
from linkwise.solve.validation import link_given


def explain_solver(mechanism: Tree, link: int | str = "tool") -> str:
    """Explain how `inverse_kinematics` and `all_inverse_kinematics` solve the poses of a frame, and why.

    Parameters
    ----------
    mechanism : Mechanism
        Any.
    link : int or str
        Which frame.

    Returns
    -------
    str
        A few sentences: the geometry that was recognised and the method that follows from it; how many solutions a pose can
        have; which joint can be held where there is one too many; how configurations are named.

    Examples
    --------
    >>> from linkwise import robots
    >>> print(explain_solver(robots.ur5()))
    ur5, 6 joints: solved in closed form, because the axes of joints 2, 3 and 4 are parallel.
    A pose has up to 8 solutions, all of which are computed; forward kinematics confirms each.
    Configurations: shoulder left or right, elbow up or down, wrist no flip or flip.
    """
    form = closed_form(mechanism, link_given(link))
    chain, _ = chain_of(mechanism, link)
    count = mechanism.n if chain is None else len(chain)
    head = f"{mechanism.name}, {count} joint{'s' * (count != 1)}"
    if chain is None:
        return f"{head}: solved by iteration from several starts, because {form.why}."
    lines: list[str] = []
    if form.exists:
        lines.append(f"{head}: solved in closed form, because {form.family}.")
        branches = form.branches
        many = f"up to {branches} solutions, all of which are" if branches > 1 else "one solution, which is"
        lines.append(f"A pose has {many} computed; forward kinematics confirms each.")
        if form.misfit > EXACT:
            lines.append(
                f"The geometry is special up to {form.misfit:.1g} (rad, shares of the arm's size) only: the special arm is"
                " solved, and each solution refined on the arm as it is."
            )
    elif eliminates(chain):
        lines.append(f"{head}: no closed form, because {form.why}.")
        lines.append(
            f"all_inverse_kinematics eliminates five {'joints' if any(chain.translates) else 'angles'}: the sixth is a root"
            f" of a polynomial of degree {degree_of(chain)}. A pose has up to {most_solutions(chain)} solutions; `complete`"
            " says for which poses none can be missing."
        )
        if len(chain) == 5:
            lines.append("Five joints reach few poses: to those that a virtual sixth, at zero, leaves to them.")
        lines.append("inverse_kinematics iterates from q0 to one solution, then from other starts.")
    else:
        lines.append(f"{head}: solved by iteration from q0, then from other starts, because {form.why}.")
        held = [k for k in chain.coordinates if closed_form(mechanism, link, fixed={k: 0.0}).exists]
        if held and len(chain) == 7:
            names = members([mechanism.names[k] for k in held])
            lines.append(
                f"With one joint held it has a closed form: {names}. all_inverse_kinematics(T, redundancy={{joint: values}})"
                " gives all solutions for all its values."
            )
    labels = labels_of(mechanism, link).names
    if labels:
        words = ", ".join(f"{name} {WORDS[name][0]} or {WORDS[name][1]}" for name in labels)
        lines.append(f"Configurations: {words}.")
    return "\n".join(lines)
