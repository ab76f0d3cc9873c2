"""Running a chain in real time, and serving its ports to other processes.

`scheduler`       cycles at a fixed rate: `run`, and how well it was kept: `Timing`
`server`, `opcua` OPC UA from a process of its own: `Server`; `authentication` who may write, `audit` who did
`service`         what any such process shares with the cycle, by `shared_memory`
"""

from linkwise.server.audit import AuditLog, AuditRecord, read_audit
from linkwise.server.authentication import add_user, new_user, read_users
from linkwise.server.scheduler import Counts, Spread, Timing, run
from linkwise.server.server import Server
from linkwise.server.service import ServerError, Service

__all__ = [
    "AuditLog",
    "AuditRecord",
    "Counts",
    "Server",
    "ServerError",
    "Service",
    "Spread",
    "Timing",
    "add_user",
    "new_user",
    "read_audit",
    "read_users",
    "run",
]
