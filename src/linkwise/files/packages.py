"""Resolution of ``package://`` addresses and paths in descriptions, by fixed rules, on demand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from heapq import nsmallest
from itertools import chain
from pathlib import Path, PurePosixPath, PureWindowsPath

from linkwise.errors import FileError
from linkwise.files.text import read_text, refused
from linkwise.files.xml_tree import XmlError, read_xml

#: Addresses that begin with the name of a package.
SCHEMES = ("package://", "model://")

#: Bytes of the largest ``package.xml`` that is read.
LARGEST_MANIFEST = 256 * 1024

#: Greatest number of subfolders searched for packages, in alphabetical order.
MOST_ENTRIES = 2000

#: Environment variables with folders that hold packages, those of ROS and of Gazebo, and with folders that ``share`` them.
PACKAGE_PATHS = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
PREFIX_PATH = "AMENT_PREFIX_PATH"

Folders = Sequence["str | Path"]


class Manifests:
    """The packages that ``package.xml`` files declare; each folder and file is read once for each description."""

    def __init__(self) -> None:
        self.name = cache(declared_name)
        self._inside = cache(self._declared)

    def inside(self, folder: Path, name: str) -> list[Path]:
        """Return the subfolders whose ``package.xml`` declares that name."""
        return self._inside(folder).get(name, [])

    def _declared(self, folder: Path) -> dict[str, list[Path]]:
        packages: dict[str, list[Path]] = {}
        for place in _folders_in(folder):
            declared = self.name(place)
            if declared is not None:
                packages.setdefault(declared, []).append(place)
        return packages


def resolve(uri: str, description_path: str | Path, package_dirs: Folders = (), manifests: Manifests | None = None) -> Path:
    """The file that a description means, such as a mesh.

    ``package://name/rest`` (and ``model://name/rest``) is looked up in the folders of the package ``name``, see
    `package_folders`; a path, or ``file://`` and a path, from the folder of the description.

    Parameters
    ----------
    uri : str
        As the description says it.
    description_path : str or Path
        The description file.
    package_dirs : sequence of str or Path
        Folders that hold packages, or are packages; they come first, and what lies in them is allowed.
    manifests : Manifests, optional
        What is known of packages from other addresses of the same description.

    Returns
    -------
    Path
        Of a file that is there.

    Raises
    ------
    FileError
        Where there is none, naming every path tried; where the file lies outside its package, the description's folder and
        the given folders, be it by ``..``, an absolute path or a symbolic link.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "arm_description" / "meshes").mkdir(parents=True)
    >>> _ = (folder / "arm_description" / "meshes" / "link.stl").write_text("solid")
    >>> _ = (folder / "arm_description" / "package.xml").write_text("<package><name>arm_description</name></package>")
    >>> resolve("package://arm_description/meshes/link.stl", folder / "arm_description" / "arm.urdf").name
    'link.stl'
    """
    permitted = [Path(folder).absolute() for folder in package_dirs]
    for scheme in SCHEMES:
        if uri.startswith(scheme):
            name, _, inner = uri.removeprefix(scheme).partition("/")
            folders = package_folders(name, description_path, package_dirs, manifests)
            if not folders:
                raise _no_package(name, description_path)
            return _first(uri, description_path, [(folder, folder / inner) for folder in folders], permitted)
    path = uri.removeprefix("file://")
    if "://" in path:
        message = f"{uri!r} cannot be looked up; expected a path, or an address with package://, model:// or file://"
        raise refused(description_path, message)
    home = Path(description_path).absolute().parent
    return _first(uri, description_path, [(home, home / path)], permitted)


def package_folder(
    name: str, description_path: str | Path, package_dirs: Folders = (), manifests: Manifests | None = None
) -> Path:
    """Return the folder of a package: the first existing one of `package_folders`.

    Raises
    ------
    FileError
        Naming every path tried.
    """
    folders = package_folders(name, description_path, package_dirs, manifests)
    for folder in folders:
        if os.path.isdir(folder):
            return folder
    if folders:
        raise _not_found(f"package {name!r}", description_path, folders)
    raise _no_package(name, description_path)


def package_folders(
    name: str, description_path: str | Path, package_dirs: Folders = (), manifests: Manifests | None = None
) -> list[Path]:
    """List the candidate folders of a package, in the order of search.

    A folder is the package if its ``package.xml`` says so, whatever the folder is called, or if it has a ``model.config``
    and that name; in the folders that are named for
    packages (1 and 3) also if it has that name.

    1. The given folders: a folder of that name in them, themselves, or a folder in them.
    2. The folders around the description, from the inmost, and the folders in the description's own folder and beside the
       packages that are around it; only those with such a ``package.xml``.
    3. The same as 1 for each folder of the environment's ROS_PACKAGE_PATH, GZ_SIM_RESOURCE_PATH and GAZEBO_MODEL_PATH; then
       ``share/<name>`` in each of AMENT_PREFIX_PATH.

    Raises
    ------
    FileError
        Where the name is not a name of a folder.
    """
    if name in {"", ".", ".."} or any(mark in name for mark in ("\\", "/", "\0")):
        raise refused(description_path, f"{name!r} is not a name of a package")
    known = manifests or Manifests()
    packages, prefixes = [_listed(key) for key in PACKAGE_PATHS], _listed(PREFIX_PATH)
    folders = [place for folder in package_dirs for place in _named_root(folder, name, known)]
    folders += _around(Path(description_path).absolute().parents[:-1], name, known)
    folders += [place for folder in chain(*packages) for place in _named_root(folder, name, known)]
    folders += [Path(folder).absolute() / "share" / name for folder in prefixes]
    return list(dict.fromkeys(folders))


def _listed(variable: str) -> list[str]:
    return list(filter(None, os.environ.get(variable, "").split(os.pathsep)))


def _named_root(root: str | Path, name: str, known: Manifests) -> list[Path]:
    """List the candidate folders of a package below a folder named for packages."""
    folder = Path(root).absolute()
    itself = [folder] if folder.name == name or known.name(folder) == name else []
    return [folder / name, *itself, *known.inside(folder, name)]


def _around(parents: Sequence[Path], name: str, known: Manifests) -> list[Path]:
    """The packages of that name around a description and beside those around it."""
    folders: list[Path] = []
    for depth, folder in enumerate(parents):
        declared = known.name(folder)
        if declared == name:
            folders.append(folder)
        beside = [folder] if depth == 0 else []
        beside += [folder.parent] if declared is not None else []
        folders += [place for root in beside for place in known.inside(root, name)]
        if known.name(folder / name) == name:
            folders.append(folder / name)
    return folders


def _folders_in(folder: Path) -> list[Path]:
    """The folders in a folder, by their names, as many as are looked at."""
    try:
        with os.scandir(folder) as entries:
            places = nsmallest(MOST_ENTRIES, (entry.path for entry in entries if entry.is_dir()))
    except (OSError, ValueError):
        return []
    return list(map(Path, places))


def declared_name(folder: Path) -> str | None:
    """Return the package name declared by ``package.xml`` in a folder, or the folder's name if it has a ``model.config``."""
    path = folder / "package.xml"
    if not os.path.isfile(path):
        return folder.name if os.path.isfile(folder / "model.config") else None
    try:
        root = read_xml(read_text(path, LARGEST_MANIFEST))
    except (FileError, XmlError):
        return None
    element = root.find("name") if root.tag == "package" else None
    return None if element is None else element.text.strip()


def _first(uri: str, description_path: str | Path, places: Sequence[tuple[Path, Path]], permitted: Sequence[Path]) -> Path:
    """Return the first existing path that lies in its search folder or in a permitted one."""
    for folder, path in places:
        if os.path.isfile(path):
            real = path.resolve()
            if not any(real.is_relative_to(allowed.resolve()) for allowed in (folder, *permitted)):
                text = f"{uri!r} leaves the folder {str(folder)!r}: it is {str(real)!r}; allow its folder with package_dirs"
                raise refused(description_path, text)
            return real
    raise _not_found(repr(uri), description_path, [path for _, path in places])


def _no_package(name: str, description_path: str | Path) -> FileError:
    message = f"package {name!r} was not found: no package.xml near the description declares this name"
    return refused(description_path, f"{message}; package_dirs names its folder")


def _not_found(subject: str, description_path: str | Path, tried: Iterable[Path]) -> FileError:
    return refused(description_path, f"{subject} was not found; tried {', '.join(map(str, tried))}")


def path_inside(folder: Path, named: str) -> Path | None:
    """The path that a file in a folder names, links followed; None where it is absolute or leaves the folder.

    Examples
    --------
    >>> path_inside(Path("/srv"), "parts/arm.urdf").name, path_inside(Path("/srv"), "../etc/passwd")
    ('arm.urdf', None)
    """
    try:
        root = folder.resolve()
        path = (root / named).resolve()
    except (OSError, ValueError, RuntimeError):  # (a NUL in the name, a ring of links)
        return None
    return None if is_absolute(named) or not path.is_relative_to(root) else path


def is_absolute(named: str) -> bool:
    """True if a path is absolute on any system, or names a drive.

    Examples
    --------
    >>> is_absolute("/etc"), is_absolute("C:parts"), is_absolute("parts/arm.urdf")
    (True, True, False)
    """
    windows = PureWindowsPath(named)
    return PurePosixPath(named).is_absolute() or windows.is_absolute() or bool(windows.drive)
