"""What a mechanism is: links, inertias, motors and the immutable tree of them, checked when built."""
