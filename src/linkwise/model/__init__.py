"""Models of mechanisms: links, inertias, motors and their immutable tree, validated when built."""
