"""Running a chain in real time, and serving its ports to other processes.

`scheduler`       cycles at a fixed rate: `run`, and how well it was kept: `Timing`
`server`, `opcua` OPC UA from a process of its own: `Server`; `authentication` who may write, `audit` who did
`service`         what any such process shares with the cycle, by `shared_memory`
"""

from linkwise.server.audit import AuditLog as AuditLog
from linkwise.server.audit import AuditRecord as AuditRecord
from linkwise.server.audit import read_audit as read_audit
from linkwise.server.authentication import add_user as add_user
from linkwise.server.authentication import new_user as new_user
from linkwise.server.scheduler import Timing as Timing
from linkwise.server.scheduler import run as run
from linkwise.server.server import Server as Server
from linkwise.server.service import ServerError as ServerError
from linkwise.server.service import Service as Service
