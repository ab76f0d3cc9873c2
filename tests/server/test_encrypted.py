"""Served to other machines: signed and encrypted, or not at all."""

import asyncio
import datetime
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("asyncua")

from asyncua import Client, ua
from asyncua.crypto import security_policies
from asyncua.ua.uaerrors import UaStatusCodeError

from linkwise.errors import FileError
from linkwise.server.opcua import certificates
from support.served_chain import PASSWORD, Running, client, node, read, write

POLICY = security_policies.SecurityPolicyBasic256Sha256


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "keys"


@pytest.fixture(scope="module")
def running(users: Path, folder: Path) -> Iterator[Running]:
    with Running(users=users, host="0.0.0.0", certificates=folder) as made:
        yield made


@pytest.fixture
def address(running: Running) -> str:
    return running.server.address.replace("0.0.0.0", "127.0.0.1")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A client's own certificate and key."""
    certificate, key, _ = certificates.found_or_made(tmp_path_factory.mktemp("client"), "127.0.0.1")
    return certificate, key


async def secured(
    made: Client, own: tuple[str, str], mode: ua.MessageSecurityMode = ua.MessageSecurityMode.SignAndEncrypt
) -> Client:
    await made.set_security(POLICY, *own, mode=mode)
    return made


def test_an_operator_writes_over_an_encrypted_channel_and_others_read(
    running: Running, address: str, own: tuple[str, str]
) -> None:
    async def visit() -> None:
        async with await secured(client(address, "anna", PASSWORD), own) as anna:
            assert await write(anna, "target.position", [1.0, 2.0, 3.0]) == "Good"
            assert await read(anna, "tool.position") == [2.0, 4.0, 6.0]
        async with await secured(client(address), own) as guest:
            assert await read(guest, "tool.position") == [2.0, 4.0, 6.0]
            assert await write(guest, "target.position", [9.0] * 3) == "BadUserAccessDenied"
        for name, password in (("admin", "wrong"), ("anna", "wrong")):
            with pytest.raises(UaStatusCodeError) as refused:
                async with await secured(client(address, name, password), own):
                    raise AssertionError("was let in")
            assert refused.value.code == ua.StatusCodes.BadUserAccessDenied

    asyncio.run(visit())
    assert running.read("target.position") == [1.0, 2.0, 3.0]


def test_on_this_machine_too_certificates_leave_no_open_channel(
    users: Path, folder: Path, running: Running, own: tuple[str, str]
) -> None:
    """As when other machines reach it: one endpoint, signed and encrypted; a password never crosses in the open."""
    with Running(users=users, certificates=folder) as alone:
        assert alone.server.encrypted_only
        assert alone.server.address.startswith("opc.tcp://127.0.0.1:")

        async def visit() -> None:
            endpoints = await client(alone.server.address).connect_and_get_server_endpoints()
            assert {(each.SecurityPolicyUri, each.SecurityMode) for each in endpoints} == {
                (POLICY.URI, ua.MessageSecurityMode.SignAndEncrypt)
            }
            with pytest.raises((UaStatusCodeError, ua.UaError)):
                async with client(alone.server.address, "anna", PASSWORD):
                    raise AssertionError("was let in")
            async with await secured(client(alone.server.address, "anna", PASSWORD), own) as anna:
                assert await write(anna, "target.position", [1.0, 2.0, 3.0]) == "Good"

        asyncio.run(visit())


def test_a_channel_that_is_open_tells_only_how_to_close_it(address: str) -> None:
    """An open channel is what the standard lets clients ask for endpoints by; all else is refused on it."""

    async def visit() -> None:
        endpoints = await client(address).connect_and_get_server_endpoints()
        assert {(each.SecurityPolicyUri, each.SecurityMode) for each in endpoints} == {
            (POLICY.URI, ua.MessageSecurityMode.SignAndEncrypt)
        }
        guest = client(address, "anna", PASSWORD)
        await guest.connect_socket()
        await guest.send_hello()
        await guest.open_secure_channel()
        guest.uaclient.pre_request_hook = None
        for request in (ua.CreateSessionRequest(), ua.ActivateSessionRequest(), ua.ReadRequest(), ua.WriteRequest()):
            with pytest.raises(UaStatusCodeError) as refused:
                await guest.uaclient._send_request(request)
            assert refused.value.code == ua.StatusCodes.BadSecurityModeInsufficient
        guest.disconnect_socket()

    asyncio.run(visit())


def test_a_channel_that_is_only_signed_is_refused(
    address: str, own: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def visit() -> None:
        made = client(address, "anna", PASSWORD, timeout=5)
        monkeypatch.setattr(Client, "find_endpoint", staticmethod(lambda endpoints, mode, uri: endpoints[0]))
        made = await secured(made, own, ua.MessageSecurityMode.Sign)
        async with made:
            raise AssertionError("was let in")

    with pytest.raises((UaStatusCodeError, ConnectionError, TimeoutError)):
        asyncio.run(visit())


def test_the_certificate_is_made_once_and_its_key_is_for_its_owner_only(running: Running, folder: Path) -> None:
    assert {entry.name for entry in folder.iterdir()} == {"certificate.der", "key.pem"}
    again = certificates.found_or_made(folder, "0.0.0.0")
    assert again == (str(folder / "certificate.der"), str(folder / "key.pem"), running.server.fingerprint)
    assert len(running.server.fingerprint.split(":")) == 32
    if os.name == "posix":
        assert stat.S_IMODE((folder / "key.pem").stat().st_mode) == 0o600


def test_half_a_pair_an_open_key_or_no_certificate_is_refused(folder: Path, running: Running, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes((folder / "key.pem").read_bytes())
    (tmp_path / "key.pem").chmod(0o600)
    with pytest.raises(FileError, match=r"key\.pem.*certificate\.der"):
        certificates.found_or_made(tmp_path, "127.0.0.1")
    (tmp_path / "certificate.der").write_bytes(b"no certificate")
    with pytest.raises(FileError, match="is not a certificate"):
        certificates.found_or_made(tmp_path, "127.0.0.1")
    (tmp_path / "certificate.der").write_bytes((folder / "certificate.der").read_bytes())
    assert certificates.found_or_made(tmp_path, "127.0.0.1")[2] == running.server.fingerprint
    (tmp_path / "key.pem").chmod(0o644)
    if os.name == "posix":
        with pytest.raises(FileError, match=r"open to others \(mode 644\); expected 600"):
            certificates.found_or_made(tmp_path, "127.0.0.1")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be used"):
        certificates.found_or_made(tmp_path / "file" / "keys", "127.0.0.1")


def test_who_is_not_told_of_an_input_cannot_reach_it(running: Running, address: str, own: tuple[str, str]) -> None:
    async def visit() -> None:
        async with await secured(client(address, "victor", PASSWORD), own) as victor:
            target = await node(victor, "target.position")
            assert ua.AccessLevel.CurrentWrite not in await target.get_user_access_level()

    asyncio.run(visit())


def test_the_key_of_another_certificate_and_one_that_expired_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        certificates.found_or_made(tmp_path / name, "127.0.0.1")
    (tmp_path / "two" / "key.pem").replace(tmp_path / "one" / "key.pem")
    with pytest.raises(FileError, match=r"is not the key of certificate\.der"):
        certificates.found_or_made(tmp_path / "one", "127.0.0.1")
    (tmp_path / "one" / "key.pem").write_text("none")
    with pytest.raises(FileError, match="is not a key without a password"):
        certificates.found_or_made(tmp_path / "one", "127.0.0.1")

    class Later(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "Later":
            return super().now(tz) + datetime.timedelta(days=certificates.DAYS + 2)

    certificates.found_or_made(tmp_path / "three", "127.0.0.1")
    monkeypatch.setattr(certificates, "datetime", SimpleNamespace(datetime=Later, UTC=datetime.UTC))
    with pytest.raises(FileError, match=r"was good until .* to have new ones made"):
        certificates.found_or_made(tmp_path / "three", "127.0.0.1")
