"""The commands, a file each: its first line is its line of help, its function of the same name the command."""
