"""Authentication and roles: a file with a line for each user, the password as a salted hash (scrypt, RFC 7914)."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from linkwise.errors import ArgumentError, FileError, FileProblem, shown
from linkwise.files.atomic import write_text
from linkwise.files.text import open_file, refused
from linkwise.spatial.validation import choice

#: Roles: may write inputs and read, may only read.
ROLES = ("operator", "viewer")

#: Parameters N, r, p of scrypt. Some 40 ms and 16 MB for each tried password.
COST = (1 << 14, 8, 1)

#: Greatest size of a file of users, characters.
LARGEST_FILE = 1 << 20

LEAST_LENGTH = 8

#: After so many wrong passwords from an address within so many seconds, none from there is tried for the rest of them.
MOST_FAILURES, WINDOW = 10, 10.0

#: The same for all addresses together, so that trying passwords never takes the server more than a part of its time.
MOST_OF_ALL = 50

HEADER = "# users of linkwise serve: name role scrypt N r p salt hash\n"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_LONGEST = 1024


@dataclass(frozen=True)
class User:
    """A user: name, role, and the salted hash of the password."""

    name: str
    role: str
    cost: tuple[int, int, int]
    salt: str
    hash: str

    def line(self) -> str:
        """The user's line in a file."""
        return " ".join([self.name, self.role, "scrypt", *map(str, self.cost), self.salt, self.hash])


def new_user(name: str, password: str, role: str = "operator") -> User:
    """A user with a password.

    Raises
    ------
    ArgumentError
        Where the name or the role cannot be, or the password is shorter than eight characters.

    Examples
    --------
    >>> new_user("anna", "correct horse").role
    'operator'
    """
    if not _NAME.fullmatch(name):
        raise ArgumentError(
            f"the user's name is {shown(name)}; expected up to 64 letters, digits and . _ @ -, a letter or digit first"
        )
    choice(f"user {name!r}: the role", role, ROLES)
    if not LEAST_LENGTH <= len(password) <= _LONGEST:
        raise ArgumentError(
            f"user {name!r}: the password has {len(password)} characters; expected {LEAST_LENGTH} to {_LONGEST}"
        )
    salt = os.urandom(16)
    return User(name, role, COST, salt.hex(), _hash(password, salt, COST).hex())


def read_users(path: str | Path) -> tuple[User, ...]:
    """The users of a file, which only its owner may read or write.

    Raises
    ------
    FileError
        Where it cannot be read, others may read it, or a line is wrong.
    """
    path = Path(path)
    with open_file(path) as file:
        try:
            status = os.fstat(file.fileno())
            lines = file.read(LARGEST_FILE).decode().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            message = getattr(error, "strerror", None) or error
            raise refused(path, f"cannot be read: {message}") from error
    require_private(path, status)
    if os.name == "posix" and status.st_uid not in (0, os.geteuid()):
        raise refused(path, f"it belongs to another user (number {status.st_uid}), who could change it")
    users, problems = {}, []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            user = _user(line.split())
            if user is None:
                problems.append(FileProblem(number, "is no user; expected: name role scrypt N r p salt hash"))
            elif user.name in users:
                problems.append(FileProblem(number, f"user {user.name!r} stands there twice"))
            else:
                users[user.name] = user
    if problems:
        raise FileError(path, problems)
    return tuple(users.values())


def require_private(path: Path, status: os.stat_result) -> None:
    """Refuse a file that others than its owner may read or write."""
    mode = stat.S_IMODE(status.st_mode)
    if os.name == "posix" and mode & 0o077:
        raise refused(path, f"it is open to others (mode {mode:o}); expected 600: chmod 600 {path}")


def add_user(path: str | Path, user: User) -> None:
    """Add a user to a file, replacing one of the same name; a new file has mode 600.

    Raises
    ------
    FileError
        Where it cannot be read or written.
    """
    path = Path(path).resolve()  # (a link stays a link)
    users = {known.name: known for known in read_users(path)} if path.exists() else {}
    users[user.name] = user
    if not path.exists():
        with contextlib.suppress(OSError):  # (writing reports the error)
            path.touch(mode=0o600)
    write_text(path, [HEADER, *(known.line() + "\n" for known in users.values())])


class Doorkeeper:
    """Verifies passwords. Failures take equal time, for unknown users too; excessive attempts are rejected without a check.

    Parameters
    ----------
    users : iterable of User
        All that there are.
    clock : callable
        The time, s.
    """

    def __init__(self, users: Iterable[User], clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.users = clock, tuple(users)
        self._known = {user.name: user for user in self.users}
        self._failures: dict[str, deque[float]] = {}
        self._all: deque[float] = deque(maxlen=MOST_OF_ALL)
        self._nobody = User("", "viewer", COST, "00" * 16, "")

    def admit(self, name: str, password: str, where: str = "") -> User | None:
        """Return the user of a name and password, or None; `where` is the address of the attempt."""
        if self._too_many(self._all) or self._too_many(self._failures.get(where, ())):
            return None
        user = self._known.get(name, self._nobody)
        digest = _hash(password[:_LONGEST], bytes.fromhex(user.salt), user.cost).hex()
        if user is not self._nobody and len(password) <= _LONGEST and hmac.compare_digest(digest, user.hash):
            return user
        self._note(where)
        return None

    def _too_many(self, failures: Collection[float]) -> bool:
        most = MOST_OF_ALL if failures is self._all else MOST_FAILURES
        return len(failures) == most and self.clock() - next(iter(failures)) < WINDOW

    def _note(self, where: str) -> None:
        """Note a failure; addresses without one for long are forgotten."""
        now = self.clock()
        for known in [known for known, failures in self._failures.items() if now - failures[-1] >= WINDOW]:
            del self._failures[known]
        self._failures.setdefault(where, deque(maxlen=MOST_FAILURES)).append(now)
        self._all.append(now)


def _hash(password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    n, r, p = cost
    return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=salt, n=n, r=r, p=p, maxmem=1 << 28, dklen=32)


def _user(words: list[str]) -> User | None:
    if len(words) != 8 or words[2] != "scrypt" or words[1] not in ROLES or not _NAME.fullmatch(words[0]):
        return None
    try:
        n, r, p = (int(word) for word in words[3:6])
        salt, digest = bytes.fromhex(words[6]), bytes.fromhex(words[7])
    except ValueError:
        return None
    usable = 1 < n <= 1 << 17 and not n & (n - 1) and 1 <= r <= 8 and 1 <= p <= 4 and len(salt) >= 8 and len(digest) == 32
    return User(words[0], words[1], (n, r, p), salt.hex(), digest.hex()) if usable else None
