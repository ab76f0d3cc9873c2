"""Options of reading a description: what a file does not say itself, and what is accepted by name only."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from linkwise.errors import ArgumentError, FileError, FileProblem
from linkwise.files.packages import Folders


class Options(TypedDict, total=False):
    """The keyword options of `read`, `load`, `loads`, `check` and `remarks`, of the types in `ReadOptions`."""

    root: str | None
    xacro: Mapping[str, object] | None
    package_dirs: Folders
    include_root: str | Path | None
    swap_limits: bool
    drop_free_armature: bool


@dataclass(frozen=True)
class ReadOptions:
    """How a description is read.

    Attributes
    ----------
    physical : bool
        Whether every inertia must be that of a body that can exist.
    root : str, optional
        URDF: the link at the root, of a file that describes several mechanisms. MJCF: the body in the world, likewise. What
        does not hang on it is left out, with a remark.
    xacro : mapping of str to str, optional
        Values of the ``<xacro:arg>`` of the file. With it (be it empty) a file is expanded whatever its name.
    package_dirs : sequence of str or Path
        Folders that hold packages, or are packages, for ``$(find package)`` of xacro.
    include_root : str or Path, optional
        A folder from which, and from all below it, an MJCF file may include files; without it from its own folder only. Of
        a text: the folder that included files are looked up from.
    swap_limits : bool
        Whether reversed limits of a URDF (lower above upper) are exchanged, with a remark.
    drop_free_armature : bool
        Whether the armature of a free joint of an MJCF file is left out, with a remark.

    Raises
    ------
    ArgumentError
        Where an option is of another kind, or a folder is not there.

    Examples
    --------
    >>> import linkwise as lw
    >>> text = '<robot name="r"><link name="pelvis"/><link name="table"/></robot>'
    >>> lw.loads(text, root="pelvis").link_names
    ('pelvis',)
    """

    physical: bool = True
    root: str | None = None
    xacro: Mapping[str, object] | None = None
    package_dirs: Folders = ()
    include_root: str | Path | None = None
    swap_limits: bool = False
    drop_free_armature: bool = False

    def __post_init__(self) -> None:
        if self.root is not None and not isinstance(self.root, str):
            raise ArgumentError(f"root is {self.root!r}; expected the name of a link or body")
        if isinstance(self.package_dirs, str | bytes) or not isinstance(self.package_dirs, Sequence):
            raise ArgumentError(f"package_dirs is {self.package_dirs!r}; expected a sequence of folders")
        for folder in self.package_dirs:
            _require_folder("package_dirs", folder)
        if self.include_root is not None:
            _require_folder("include_root", self.include_root)
        for name in ("physical", "swap_limits", "drop_free_armature"):
            if not isinstance(getattr(self, name), bool):
                raise ArgumentError(f"{name} is {getattr(self, name)!r}; expected True or False")
        self.arguments()

    def arguments(self) -> dict[str, str]:
        """The xacro arguments as text.

        Examples
        --------
        >>> ReadOptions(xacro={"name": "ur5e", "gripper": False}).arguments()
        {'name': 'ur5e', 'gripper': 'False'}
        """
        values = {} if self.xacro is None else self.xacro
        if not isinstance(values, Mapping):
            raise ArgumentError(f"xacro is {values!r}; expected a mapping of argument names to values")
        for name, value in values.items():
            if not isinstance(name, str) or not isinstance(value, str | bool | int | float):
                raise ArgumentError(f"xacro is {dict(values)!r}; expected names with text, numbers or truth values")
        return {name: str(value) for name, value in values.items()}

    def refuse_unused(self, path: str | Path, form: str, known: Collection[str] = ()) -> None:
        """Refuse options without effect on a format, where their silent loss would give another mechanism.

        Parameters
        ----------
        path : str or Path
            The file.
        form : str
            What a message calls its format.
        known : collection of str
            Which of ``root`` and ``xacro`` the format knows.

        Raises
        ------
        FileError
            Naming the option.
        """
        if self.xacro is not None and "xacro" not in known:
            raise FileError(path, [FileProblem(0, f"xacro arguments were given, but this is {form}, not xacro")])
        if self.root is not None and "root" not in known:
            hint = "only URDF and MJCF have several roots"
            message = f"root={self.root!r} was given, but {form} describes one mechanism; {hint}"
            raise FileError(path, [FileProblem(0, message)])


def _require_folder(name: str, folder: object) -> None:
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"{name} is or holds {folder!r}; expected the path of a folder")
    if not os.path.isdir(Path(folder)):
        raise ArgumentError(f"{name}: there is no folder {os.fspath(folder)!r}")
