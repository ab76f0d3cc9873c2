"""Sessions of clients: reading and subscriptions; with an authorized user, writes and method calls."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from asyncua import ua
from asyncua.common.utils import ServiceError
from asyncua.crypto.permission_rules import User, UserRole
from asyncua.server.internal_server import InternalServer
from asyncua.server.internal_session import InternalSession

from linkwise.errors import shown
from linkwise.server.authentication import Doorkeeper
from linkwise.server.log import peer_name
from linkwise.server.opcua.events import event_filter
from linkwise.server.writes import Author

#: A session of which nothing is heard for so long ends, ms.
LONGEST_SESSION = 60_000

#: The most of a session, of a subscription, and of a monitored item.
SUBSCRIPTIONS, ITEMS, QUEUE = 4, 2000, 10

#: The most monitored items of all together; sessions without a name may have half of them.
ALL_ITEMS = 8000

#: Greatest number of messages of a subscription kept until the client acknowledges them.
UNHEARD = 10

#: The longest time between messages of a subscription, ms.
LONGEST_INTERVAL = 60_000.0

#: The most of one request: attributes, inputs, nodes, paths, steps of all its paths, and
#: methods.
READS, WRITES, BROWSES, PATHS, STEPS, CALLS = 2000, 256, 32, 500, 2000, 4

_RSA_15 = "http://www.w3.org/2001/04/xmlenc#rsa-1_5"

WriteGate = Callable[[list[Any], Author], Awaitable[list[ua.StatusCode]]]


@dataclass
class Visitor(User):
    """The user of a session; without a name it may only read."""

    operator: bool = False


class Visitors:
    """Authenticates clients by name and password."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper
        self.where = ""

    def get_user(
        self, iserver: Any, username: str | None = None, password: Any = None, certificate: Any = None
    ) -> Visitor | None:
        """Authenticate a client: None if it is rejected. Anonymous clients are admitted; a name requires its password."""
        if username is None and password is None:
            return Visitor(UserRole.User)
        if not isinstance(username, str) or not isinstance(password, str):
            return None
        user = self._keeper.admit(username, password, self.where)
        return None if user is None else Visitor(UserRole.User, user.name, user.role == "operator")


def _of_own_subscriptions(service: str, ids: Callable[[Any], Iterable[int]], items: str = "") -> Any:
    """A service of the library, for subscriptions of the session itself and a bounded number of monitored items."""

    def call(session: Session, params: Any) -> Any:
        session._own(*ids(params))
        _few(getattr(params, items) if items else None, ITEMS)
        return getattr(super(Session, session), service)(params)

    return call


def _its_id(params: Any) -> tuple[int]:
    return (params.SubscriptionId,)


class Session(InternalSession):
    """A session that writes through a gate, and cannot change the subscriptions of others."""

    iserver: Services

    def activate_session(self, params: ua.ActivateSessionParameters, peer_certificate: bytes | None) -> Any:
        """Admit a client, unless too many without a name are in already."""
        token = params.UserIdentityToken
        named = isinstance(token, ua.UserNameIdentityToken)
        who = f"login of {shown(token.UserName)}" if named else "session without a name"
        self.iserver.user_manager.where = network(self.name)
        try:
            if not named and self not in self.iserver.sessions and self.iserver.nameless >= self.iserver.most_nameless:
                raise ServiceError(ua.StatusCodes.BadTooManySessions)
            result = super().activate_session(params, peer_certificate)
        except Exception as error:
            self.iserver.log("refused", f"{who} from {peer_name(self.name)} refused: {_code(error)}", logging.WARNING)
            raise
        self.iserver.sessions.add(self)
        role = f" ({'operator' if self._operator else 'viewer'})" if named else ""
        self.iserver.log("login" if named else "session", f"{who}{role} from {peer_name(self.name)} accepted")
        return result

    async def close_session(self, delete_subs: bool = True) -> None:
        """End it, with its subscriptions whatever the client wants: no other session can take them over."""
        self.iserver.sessions.discard(self)
        await super().close_session(True)

    async def read(self, params: ua.ReadParameters) -> list[ua.DataValue]:
        """Read; access rights are those of this user. Parts of an array are not served."""
        _few(params.NodesToRead, READS)
        results: list[ua.DataValue] = self.iserver.attribute_service.read(params)
        results = [_NO_PART if wanted.IndexRange else got for wanted, got in zip(params.NodesToRead, results, strict=True)]
        if self._operator:
            return results
        return [
            _read_only(value) if wanted.AttributeId == ua.AttributeIds.UserAccessLevel else value
            for wanted, value in zip(params.NodesToRead, results, strict=True)
        ]

    async def write(self, params: ua.WriteParameters) -> list[ua.StatusCode]:
        """Write inputs, with the right to."""
        if not self.external:
            codes: list[ua.StatusCode] = await super().write(params)
            return codes
        _few(params.NodesToWrite, WRITES)
        if self._is_permitted("write", len(params.NodesToWrite)):
            return await self.iserver.gate(params.NodesToWrite, self._writer)
        return [_status(ua.StatusCodes.BadUserAccessDenied)] * len(params.NodesToWrite)

    async def call(self, params: list[ua.CallMethodRequest]) -> list[ua.CallMethodResult]:
        """Call methods of the chain, with the right to write; there are no others."""
        _few(params, CALLS)
        if self._is_permitted("call", len(params)):
            return [ua.CallMethodResult(StatusCode=code) for code in await self.iserver.called(params, self._writer)]
        return [ua.CallMethodResult(StatusCode=_status(ua.StatusCodes.BadUserAccessDenied)) for _ in params]

    def _is_permitted(self, action: str, count: int) -> bool:
        """True for an operator; attempts of others are counted and logged."""
        if not self._operator:
            self.iserver.denied(count)
            who = f"by {shown(self.user.name)}" if self._named else "without a name"
            self.iserver.log(action, f"{action} {who} from {peer_name(self.name)} refused: no operator", logging.WARNING)
        return self._operator

    @property
    def _writer(self) -> Author:
        return Author(self.user.name, peer_name(self.name), "opcua")

    async def browse(self, params: ua.BrowseParameters) -> Any:
        """Browse the nodes."""
        _few(params.NodesToBrowse, BROWSES)
        return await super().browse(params)

    async def translate_browsepaths_to_nodeids(self, params: list[ua.BrowsePath]) -> Any:
        """Tell where paths lead to."""
        _few(params, PATHS)
        _few([step for path in params for step in path.RelativePath.Elements], STEPS)
        return await super().translate_browsepaths_to_nodeids(params)

    async def create_subscription(self, params: ua.CreateSubscriptionParameters, *args: Any, **kwargs: Any) -> Any:
        """Subscribe, not faster than values are looked at."""
        if len(self._subscriptions()) >= SUBSCRIPTIONS:
            raise ServiceError(ua.StatusCodes.BadTooManySubscriptions)
        asked = params.RequestedPublishingInterval
        shortest = self.iserver.interval * 1e3
        params.RequestedPublishingInterval = max(shortest, min(LONGEST_INTERVAL, max(shortest, asked)))  # (NaN is not more)
        return await super().create_subscription(params, *args, **kwargs)

    async def create_monitored_items(self, params: ua.CreateMonitoredItemsParameters) -> Any:
        """Watch values and events, a bounded number of them."""
        self._own(params.SubscriptionId)
        known, asked = self.subscription_service.subscriptions, params.ItemsToCreate
        watched = {number: len(subscription.monitored_item_srv._monitored_items) for number, subscription in known.items()}
        most = ALL_ITEMS if self._named else ALL_ITEMS // 2
        if watched[params.SubscriptionId] + len(asked) > ITEMS or sum(watched.values()) + len(asked) > most:
            raise ServiceError(ua.StatusCodes.BadTooManyMonitoredItems)
        refused = [_unwatchable(item, self.iserver.sources) for item in asked]
        params.ItemsToCreate = [item for item, code in zip(asked, refused, strict=True) if code is None]
        results = iter(await super().create_monitored_items(params))
        return [
            next(results) if code is None else ua.MonitoredItemCreateResult(StatusCode=_status(code)) for code in refused
        ]

    async def modify_monitored_items(self, params: ua.ModifyMonitoredItemsParameters) -> Any:
        """Modify monitored items."""
        self._own(params.SubscriptionId)
        _few(params.ItemsToModify, ITEMS)
        for item in params.ItemsToModify:
            if not _plain(item.RequestedParameters):
                raise ServiceError(ua.StatusCodes.BadMonitoredItemFilterUnsupported)
            if item.MonitoredItemId in self._events(params.SubscriptionId):
                item.RequestedParameters.Filter = None  # (that of events stays)
            item.RequestedParameters.QueueSize = ua.UInt32(min(max(item.RequestedParameters.QueueSize, 1), QUEUE))
        return await super().modify_monitored_items(params)

    delete_monitored_items = _of_own_subscriptions("delete_monitored_items", _its_id, "MonitoredItemIds")
    set_monitoring_mode = _of_own_subscriptions("set_monitoring_mode", _its_id, "MonitoredItemIds")
    set_publishing_mode = _of_own_subscriptions("set_publishing_mode", lambda params: params.SubscriptionIds)
    delete_subscriptions = _of_own_subscriptions("delete_subscriptions", list)
    modify_subscription = _of_own_subscriptions("modify_subscription", _its_id)
    republish = _of_own_subscriptions("republish", _its_id)

    def publish(self, acks: Iterable[ua.SubscriptionAcknowledgement] | None = None) -> tuple[int, list[ua.StatusCode]]:
        """Publish changes, and process acknowledgements."""
        mine = self._subscriptions()
        if not mine:
            raise ServiceError(ua.StatusCodes.BadNoSubscription)
        acks = list(acks or [])
        unknown = _status(ua.StatusCodes.BadSubscriptionIdInvalid)
        heard = iter(super().publish([ack for ack in acks if ack.SubscriptionId in mine])[1])
        return len(mine), [next(heard) if ack.SubscriptionId in mine else unknown for ack in acks]

    @property
    def _operator(self) -> bool:
        return isinstance(self.user, Visitor) and self.user.operator

    @property
    def _named(self) -> bool:
        return isinstance(self.user, Visitor) and self.user.name is not None

    def _subscriptions(self) -> set[int]:
        known = self.subscription_service.subscriptions
        return {number for number, subscription in known.items() if subscription.session_id == self.session_id}

    def _events(self, subscription: int) -> set[int]:
        """The monitored items of a subscription that are of events."""
        watched = self.subscription_service.subscriptions[subscription].monitored_item_srv._monitored_events
        return {number for items in watched.values() for number in items}

    def _own(self, *ids: int) -> None:
        if not set(ids) <= self._subscriptions():
            raise ServiceError(ua.StatusCodes.BadSubscriptionIdInvalid)


class Services(InternalServer):
    """The services behind the sessions.

    Attributes
    ----------
    gate, called : callable
        Where writes go, and calls of methods.
    sources : set of NodeId
        Nodes at which there are events.
    denied : callable
        Called with the number of writes refused for want of the right.
    log : callable
        Takes the kind, the text and the level of a line, as a `LimitedLog` does.
    sessions : set of Session
        Those that are active.
    most_nameless : int
        So many may be in without a name.
    interval : float
        Time between looks at the values, s.
    """

    def __init__(self, keeper: Doorkeeper, interval: float, most_nameless: int) -> None:
        self.sessions: set[Session] = set()
        self.most_nameless, self.interval = most_nameless, interval
        self.gate: WriteGate = _closed
        self.called: WriteGate = _closed
        self.sources: set[ua.NodeId] = set()
        self.denied: Callable[[int], None] = _unheard
        self.log: Callable[..., None] = _unheard
        super().__init__(user_manager=Visitors(keeper))
        self.allow_remote_admin = False
        self.supported_tokens = (ua.AnonymousIdentityToken, ua.UserNameIdentityToken)
        self.max_session_timeout_ms = LONGEST_SESSION
        self.max_monitored_item_queue_size = QUEUE
        self.max_unacked_messages_per_subscription = UNHEARD
        self.max_lifetime_count = 1000
        self.max_keep_alive_count = 1000

    @property
    def nameless(self) -> int:
        """Number of anonymous sessions."""
        return sum(not session._named for session in self.sessions)

    def create_session(self, name: str, user: User | None = None, external: bool = False) -> Session:
        """Begin a session that may do nothing yet."""
        return Session(
            self, self.aspace, self.subscription_service, name, user=Visitor(UserRole.Anonymous), external=external
        )

    def lookup_external_session(self, auth_token: ua.NodeId) -> None:
        """Refuse to hand a session over to another connection: its token is a number that anybody can guess."""

    def register_external_session(self, session: InternalSession) -> None:
        """Keep no list of sessions for that purpose."""

    def unregister_external_session(self, session: InternalSession) -> None:
        """Nor take any off it."""

    def decrypt_user_token(self, isession: Any, token: ua.UserNameIdentityToken) -> tuple[Any, Any]:
        """Read a name, which there must be, and a password; not by the padding of 1998, which leaks."""
        if token.EncryptionAlgorithm == _RSA_15 or not token.UserName:
            raise ServiceError(ua.StatusCodes.BadIdentityTokenRejected)
        decrypted: tuple[Any, Any] = super().decrypt_user_token(isession, token)
        return decrypted


async def _closed(values: list[Any], author: Author) -> list[ua.StatusCode]:
    return [_status(ua.StatusCodes.BadNotWritable)] * len(values)


def network(peer: Any) -> str:
    """The origin of a client: the address, or of IPv6 the network that usually is one household's.

    Examples
    --------
    >>> network(("10.0.0.7", 50000)), network(("fe80::1%eth0", 50000, 0, 2))
    ('10.0.0.7', 'fe80::')
    """
    try:
        address = ipaddress.ip_address(str(peer[0]).partition("%")[0])
    except (ValueError, TypeError, IndexError):
        return ""
    return str(address if address.version == 4 else ipaddress.ip_network((int(address), 64), strict=False)[0])


def _few(asked: Sequence[Any] | None, most: int) -> None:
    if asked is not None and len(asked) > most:
        raise ServiceError(ua.StatusCodes.BadTooManyOperations)


def _plain(asked: ua.MonitoringParameters) -> bool:
    """True without a filter: the library applies other filters wrongly, or fails at them."""
    if not asked.Filter:
        asked.Filter = None
        return True
    return isinstance(asked.Filter, ua.DataChangeFilter) and asked.Filter.DeadbandType == ua.DeadbandType.None_


def _unwatchable(item: ua.MonitoredItemCreateRequest, sources: set[ua.NodeId]) -> int | None:
    """Status code why an item cannot be monitored; a valid one is reduced to its node and attribute."""
    wanted = item.ItemToMonitor
    if wanted.IndexRange:
        return int(ua.StatusCodes.BadIndexRangeInvalid)
    if wanted.AttributeId == ua.AttributeIds.EventNotifier:
        if wanted.NodeId not in sources:
            return int(ua.StatusCodes.BadAttributeIdInvalid)
        item.RequestedParameters.Filter = event_filter(item.RequestedParameters.Filter)
        if item.RequestedParameters.Filter is None:
            return int(ua.StatusCodes.BadMonitoredItemFilterUnsupported)
    elif not _plain(item.RequestedParameters):
        return int(ua.StatusCodes.BadMonitoredItemFilterUnsupported)
    node = ua.NodeId(wanted.NodeId.Identifier, wanted.NodeId.NamespaceIndex, wanted.NodeId.NodeIdType)
    item.ItemToMonitor = ua.ReadValueId(NodeId=node, AttributeId=wanted.AttributeId)
    return None


def _status(code: int) -> ua.StatusCode:
    return ua.StatusCode(ua.UInt32(code))


_NO_PART = ua.DataValue(StatusCode=_status(ua.StatusCodes.BadIndexRangeInvalid))


def _unheard(*message: object) -> None:
    pass


def _code(error: Exception) -> str:
    """Name of the standard status code of an error."""
    code = getattr(error, "code", None)
    return ua.status_codes.get_name_and_doc(code)[0] if isinstance(code, int) else type(error).__name__


def _read_only(value: ua.DataValue) -> ua.DataValue:
    if value.Value is None or not isinstance(value.Value.Value, int):
        return value
    level = value.Value.Value & ~(1 << ua.AccessLevel.CurrentWrite)
    return ua.DataValue(ua.Variant(level, ua.VariantType.Byte), value.StatusCode)
