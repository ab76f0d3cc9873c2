"""How an algorithm is declared, compiled and bound to `Mechanism`."""
