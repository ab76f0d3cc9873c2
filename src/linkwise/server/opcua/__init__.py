"""The OPC UA side of serving a chain: imported only in the process of the server, since asyncua is an extra."""
