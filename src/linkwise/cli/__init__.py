"""The command line: ``linkwise COMMAND``. Each command is one file, imported when it is used."""

from linkwise.cli.app import main as main
