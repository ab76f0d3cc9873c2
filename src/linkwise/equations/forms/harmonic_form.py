"""The harmonic form of a result: every entry a sum of coefficients times a cosine or sine of a combination of angles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwise.equations.forms.base_symbols import with_base_symbols
from linkwise.equations.forms.closed_form import ClosedForm
from linkwise.equations.forms.closed_terms import terms_of
from linkwise.equations.forms.explicit import checked, parts_of
from linkwise.equations.forms.significance import without_small_terms
from linkwise.model.tree import Tree


def harmonic(
    tree: Tree,
    what: str,
    *,
    significance: float = 0.0,
    values: Mapping[str, float] | None = None,
    speeds: Any = 1.0,
    of_row: float = 0.0,
    base: bool = False,
    **options: Any,
) -> ClosedForm:
    """Write an algorithm's result in harmonic form.

    Parameters
    ----------
    tree : Tree
        The mechanism, of numbers and symbols.
    what : str
        One of `linkwise.equations.forms.explicit.RESULTS`.
    significance, values, speeds, of_row
        Which small terms are left out: see `linkwise.equations.forms.significance.without_small_terms`.
    base : bool
        Whether to write it in base parameters.
    **options
        Of the algorithm.

    Returns
    -------
    ClosedForm
        Compared with the kernels before anything was left out; its `bound` says how far it may be off.

    Raises
    ------
    ArgumentError
        As for `linkwise.equations.forms.explicit.explicit`; where small terms shall be left out and no numbers are known.

    Examples
    --------
    >>> from linkwise import robots
    >>> whole = harmonic(robots.puma560(), "mass_matrix")
    >>> short = harmonic(robots.puma560(), "mass_matrix", significance=0.01)
    >>> whole.terms, short.terms, short.bound < 0.05
    ({'M': 187}, {'M': 80}, True)
    """
    based = with_base_symbols(tree) if base else None
    made, shapes, parts = parts_of(tree, what, based, options)
    angles = [tuple(k for k, need in enumerate(made.needs) if need.harmonic)]
    form = checked(ClosedForm(tree, what, "harmonic", terms_of(made, shapes, parts, angles), options, based=based))
    return without_small_terms(form, significance, values, speeds, of_row)
