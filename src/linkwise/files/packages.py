"""Where the files are that a description names: ``package://`` addresses and paths, looked up by fixed rules, on demand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from linkwise.errors import FileError, FileProblem

SCHEMES = ("package://", "model://")
"""Addresses that begin with the name of a package."""

PACKAGE_PATH = "ROS_PACKAGE_PATH"
PREFIX_PATH = "AMENT_PREFIX_PATH"

Folders = Sequence["str | Path"]


def resolve(uri: str, description_path: str | Path, package_dirs: Folders = ()) -> Path:
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
    >>> resolve("package://arm_description/meshes/link.stl", folder / "arm_description" / "arm.urdf").name
    'link.stl'
    """
    given = [Path(folder).absolute() for folder in package_dirs]
    for scheme in SCHEMES:
        if uri.startswith(scheme):
            name, _, rest = uri.removeprefix(scheme).partition("/")
            folders = package_folders(name, description_path, package_dirs)
            return _first(uri, description_path, [(folder, folder / rest) for folder in folders], given)
    path = uri.removeprefix("file://")
    if "://" in path:
        said = f"{uri!r} cannot be looked up; expected a path, or an address with package://, model:// or file://"
        raise FileError(description_path, [FileProblem(0, said)])
    home = Path(description_path).absolute().parent
    return _first(uri, description_path, [(home, home / path)], given)


def package_folder(name: str, description_path: str | Path, package_dirs: Folders = ()) -> Path:
    """The folder of a package: the first of `package_folders` that is there.

    Raises
    ------
    FileError
        Naming every path tried.
    """
    folders = package_folders(name, description_path, package_dirs)
    for folder in folders:
        if _is(Path.is_dir, folder):
            return folder
    raise _not_found(f"package {name!r}", description_path, folders)


def package_folders(name: str, description_path: str | Path, package_dirs: Folders = ()) -> list[Path]:
    """Where a package may be, in the order in which it is looked for.

    1. The given folders: a folder of that name in them, or themselves if they have that name.
    2. The folders around the description, from the inmost: themselves if they have that name, or one of that name in them.
       The root of the disk is none of them: what lies there is the system's (``package://etc/...``).
    3. The same for each folder of the environment's ROS_PACKAGE_PATH; then ``share/<name>`` in each of AMENT_PREFIX_PATH.

    Raises
    ------
    FileError
        Where the name is no name of a folder.
    """
    if name in {"", ".", ".."} or any(mark in name for mark in ("\\", "/", "\0")):
        raise FileError(description_path, [FileProblem(0, f"{name!r} is no name of a package")])
    given = [Path(folder).absolute() for folder in package_dirs]
    packages = [Path(folder).absolute() for folder in _environment(PACKAGE_PATH)]
    found = [place for folder in given for place in (folder / name, *_itself(folder, name))]
    around = Path(description_path).absolute().parents[:-1]
    found += [place for folder in around for place in (*_itself(folder, name), folder / name)]
    found += [place for folder in packages for place in (folder / name, *_itself(folder, name))]
    found += [Path(folder).absolute() / "share" / name for folder in _environment(PREFIX_PATH)]
    return list(dict.fromkeys(found))


def _itself(folder: Path, name: str) -> list[Path]:
    return [folder] if folder.name == name else []


def _environment(variable: str) -> list[str]:
    return [folder for folder in os.environ.get(variable, "").split(os.pathsep) if folder]


def _first(uri: str, description_path: str | Path, places: Sequence[tuple[Path, Path]], given: Sequence[Path]) -> Path:
    """The first path that is there, if it lies in the folder that it was looked up in, or in a given one."""
    for folder, path in places:
        if _is(Path.is_file, path):
            real = path.resolve()
            if not any(real.is_relative_to(allowed.resolve()) for allowed in (folder, *given)):
                said = f"{uri!r} leaves the folder {str(folder)!r}: it is {str(real)!r}; allow its folder with package_dirs"
                raise FileError(description_path, [FileProblem(0, said)])
            return real
    raise _not_found(repr(uri), description_path, [path for _, path in places])


def _is(what: Callable[[Path], bool], path: Path) -> bool:
    try:
        return what(path)
    except (OSError, ValueError):
        return False


def _not_found(what: str, description_path: str | Path, tried: Iterable[Path]) -> FileError:
    return FileError(description_path, [FileProblem(0, f"{what} was not found; tried {', '.join(map(str, tried))}")])
