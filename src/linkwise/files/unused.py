"""What a file says that is no part of a mechanism: each kind once, with its first line and how often it stands there."""

from __future__ import annotations

from linkwise.errors import FileProblem


class Unused:
    """Gathers what a reader leaves out."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int, str]] = {}

    def note(self, what: str, line: int, why: str = "") -> None:
        """Note one place; `why` of the first of its kind is told.

        Parameters
        ----------
        what : str
            The kind, as a message calls it: ``"<sensor>"``, ``"the attribute 'springref' of <joint>"``.
        line : int
            Where it stands, counted from 1.
        why : str
            What it is, or what its being left out means; a few words.
        """
        first, count, said = self._found.get(what, (line, 0, why))
        self._found[what] = (first, count + 1, said)

    def remarks(self) -> list[FileProblem]:
        """One remark for each kind, by the line where it first stands.

        Examples
        --------
        >>> unused = Unused()
        >>> for line in (3, 7, 9):
        ...     unused.note("<sensor>", line, "Linkwise has no sensors")
        >>> print(*unused.remarks())
        line 3: <sensor> is not used (3 of them, the first here): Linkwise has no sensors
        """
        made = []
        for what, (line, count, why) in self._found.items():
            places = f" ({count} of them, the first here)" if count > 1 else ""
            made.append(FileProblem(line, f"{what} is not used{places}{': ' + why if why else ''}"))
        return sorted(made, key=lambda remark: remark.line)
