"""Speed and acceleration limits of link ends: how far a chain may go towards its goal in a cycle."""
