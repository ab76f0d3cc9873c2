import os
import stat
from pathlib import Path

import pytest

from linkwise.errors import ArgumentError, FileError
from linkwise.server import authentication as users
from linkwise.server.authentication import Doorkeeper, add_user, new_user, read_users

PASSWORD = "correct horse"
posix = pytest.mark.skipif(os.name != "posix", reason="file modes")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "COST", (16, 1, 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "users.txt"


def test_a_file_gives_back_who_was_put_in(path: Path) -> None:
    anna, victor = new_user("anna", PASSWORD), new_user("victor@site", PASSWORD, "viewer")
    add_user(path, anna)
    add_user(path, victor)
    assert read_users(path) == (anna, victor)
    assert PASSWORD not in path.read_text()


def test_the_same_password_has_another_hash_each_time() -> None:
    assert new_user("anna", PASSWORD).hash != new_user("anna", PASSWORD).hash


def test_a_user_put_in_again_is_replaced(path: Path) -> None:
    add_user(path, new_user("anna", PASSWORD))
    add_user(path, new_user("bert", PASSWORD))
    add_user(path, new_user("anna", "another password", "viewer"))
    keeper = Doorkeeper(read_users(path))
    assert [user.name for user in keeper.users] == ["anna", "bert"]
    assert keeper.admit("anna", PASSWORD) is None
    assert keeper.admit("anna", "another password").role == "viewer"


@posix
def test_nobody_else_may_read_the_file(path: Path) -> None:
    old = os.umask(0)
    try:
        add_user(path, new_user("anna", PASSWORD))
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    with pytest.raises(FileError, match=r"640.*600.*600"):
        read_users(path)


def test_nothing_stays_beside_the_file(path: Path) -> None:
    add_user(path, new_user("anna", PASSWORD))
    assert [entry.name for entry in path.parent.iterdir()] == ["users.txt"]


def test_only_the_right_password_of_a_known_user_is_admitted() -> None:
    keeper = Doorkeeper([new_user("anna", PASSWORD)])
    assert keeper.admit("anna", PASSWORD).name == "anna"
    for name, password in (
        ("anna", PASSWORD + " "),
        ("anna", ""),
        ("Anna", PASSWORD),
        ("admin", ""),
        ("", ""),
        ("", PASSWORD),
    ):
        assert keeper.admit(name, password) is None
    assert keeper.admit("anna", PASSWORD).name == "anna"


def test_an_unknown_user_costs_a_hash_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    hashed = users._hash
    monkeypatch.setattr(users, "_hash", lambda *given: made.append(given) or hashed(*given))
    keeper = Doorkeeper([new_user("anna", PASSWORD)])
    made.clear()
    keeper.admit("nobody", PASSWORD)
    keeper.admit("anna", "wrong")
    assert [cost for _, _, cost in made] == [users.COST] * 2


def test_after_too_many_wrong_ones_none_is_tried_for_a_while() -> None:
    clock = [100.0]
    keeper = Doorkeeper([new_user("anna", PASSWORD)], clock=lambda: clock[0])
    for _ in range(users.MOST_FAILURES):
        assert keeper.admit("anna", "wrong") is None
        clock[0] += 0.1
    assert keeper.admit("anna", PASSWORD) is None
    clock[0] += users.WINDOW
    assert keeper.admit("anna", PASSWORD) is not None


def test_wrong_passwords_from_one_address_lock_no_other_out() -> None:
    clock = [100.0]
    keeper = Doorkeeper([new_user("anna", PASSWORD)], clock=lambda: clock[0])
    for _ in range(users.MOST_FAILURES):
        assert keeper.admit("anna", "wrong", "10.0.0.7") is None
    assert keeper.admit("anna", PASSWORD, "10.0.0.7") is None
    assert keeper.admit("anna", PASSWORD, "10.0.0.8") is not None
    clock[0] += users.WINDOW
    assert keeper.admit("anna", PASSWORD, "10.0.0.7") is not None


def test_all_addresses_together_are_bounded_too_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    keeper = Doorkeeper([new_user("anna", PASSWORD)], clock=lambda: clock[0])
    tried = []
    hashed = users._hash
    monkeypatch.setattr(users, "_hash", lambda *given: tried.append(given) or hashed(b"".decode(), given[1], (2, 1, 1)))
    for k in range(2 * users.MOST_OF_ALL):
        assert keeper.admit("anna", "wrong", f"10.0.0.{k}") is None
    assert len(tried) == users.MOST_OF_ALL
    clock[0] += users.WINDOW
    assert keeper.admit("anna", "wrong", "10.0.1.1") is None
    assert list(keeper._failures) == ["10.0.1.1"]


@pytest.mark.skipif(os.name != "posix", reason="links and owners are those of POSIX")
def test_a_link_to_the_file_stays_a_link(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    add_user(path, new_user("anna", PASSWORD))
    link.symlink_to(path)
    add_user(link, new_user("bert", PASSWORD))
    assert link.is_symlink()
    assert [user.name for user in read_users(path)] == ["anna", "bert"]


@pytest.mark.skipif(os.name != "posix", reason="links and owners are those of POSIX")
def test_a_file_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_user(path, new_user("anna", PASSWORD))
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    if path.stat().st_uid == 0:
        os.chown(path, 12345, -1)
        monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(FileError, match="belongs to another user"):
        read_users(path)


def test_what_is_no_file_is_refused() -> None:
    with pytest.raises(FileError, match="regular file" if os.name == "posix" else "."):
        read_users(os.devnull)


def test_a_password_without_end_is_cut_before_it_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    hashed = users._hash
    monkeypatch.setattr(users, "_hash", lambda password, *rest: sizes.append(len(password)) or hashed(password, *rest))
    assert Doorkeeper([]).admit("anna", "x" * 10_000_000) is None
    assert sizes == [1024]


@pytest.mark.parametrize("name", ["", "an na", "-anna", "anna\n", "a" * 65, "ännä", "#anna"])
def test_a_name_that_cannot_be(name: str) -> None:
    with pytest.raises(ArgumentError, match="the user's name is"):
        new_user(name, PASSWORD)


def test_a_role_or_password_that_cannot_be() -> None:
    with pytest.raises(ArgumentError, match=r"'admin'.*'operator'.*'viewer'"):
        new_user("anna", PASSWORD, "admin")
    with pytest.raises(ArgumentError, match=r"password.*7.*characters.*8.*1024"):
        new_user("anna", "1234567")


def test_every_wrong_line_is_told(path: Path) -> None:
    good = new_user("anna", PASSWORD).line()
    wrong = [
        "anna operator",
        good.replace("scrypt", "plain").replace("anna", "b"),
        good.replace(" operator ", " admin ").replace("anna", "c"),
        good.replace(" 16 1 1 ", " 17 1 1 ").replace("anna", "d"),
        good.replace(" 16 1 1 ", " 1073741824 8 1 ").replace("anna", "e"),
        good[:-2].replace("anna", "f"),
        good.replace("anna", "g")[:-1] + "z",
        good,
    ]
    path.write_text("# users\n\n" + good + "\n" + "\n".join(wrong) + "\n")
    path.chmod(0o600)
    with pytest.raises(FileError) as told:
        read_users(path)
    assert [problem.line for problem in told.value.problems] == [4, 5, 6, 7, 8, 9, 10, 11]
    assert "twice" in str(told.value.problems[-1])


def test_a_file_that_is_not_there_or_no_text(path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        read_users(path)
    path.write_bytes(b"\xff\xfe\x00")
    path.chmod(0o600)
    with pytest.raises(FileError, match="cannot be read"):
        read_users(path)
    with pytest.raises(FileError, match="there is no folder"):
        add_user(path.parent / "nowhere" / "users.txt", new_user("anna", PASSWORD))
