"""Running a chain in real time, and serving its ports to other processes.

`pacing`    cycles at a fixed rate: `run`; `timing` how well it was kept: `Timing`
`server`    OPC UA from a process of its own: `Server`; `users` who may write
`memory`, `board`, `mailbox`  what the two processes share
`child`, `settings`, `opcua`  the process of the server
"""

from linkwise.server.authentication import add_user, new_user, read_users
from linkwise.server.scheduler import Counts, Spread, Timing, run
from linkwise.server.server import Server, ServerError

__all__ = ["Counts", "Server", "ServerError", "Spread", "Timing", "add_user", "new_user", "read_users", "run"]
