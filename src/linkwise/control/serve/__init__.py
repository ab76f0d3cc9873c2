"""Running a chain in real time, and serving its ports to other processes.

`pacing`    cycles at a fixed rate: `run`; `timing` how well it was kept: `Timing`
`server`    OPC UA from a process of its own: `Server`; `users` who may write
`memory`, `board`, `mailbox`  what the two processes share
`child`, `settings`, `opcua`  the process of the server
"""

from linkwise.control.serve.pacing import run
from linkwise.control.serve.server import Server, ServerError
from linkwise.control.serve.timing import Counts, Spread, Timing
from linkwise.control.serve.users import add_user, new_user, read_users

__all__ = ["Counts", "Server", "ServerError", "Spread", "Timing", "add_user", "new_user", "read_users", "run"]
