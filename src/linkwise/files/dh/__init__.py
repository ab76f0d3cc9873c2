"""Denavit-Hartenberg tables in the columns of each toolbox, read and written; docs/dh-tables.md describes them."""

from linkwise.files.dh.table import read_dh as read_dh
from linkwise.files.dh.table import said_dialect as said_dialect
from linkwise.files.dh.table import save_dh as save_dh
from linkwise.files.dh.table import undecided as undecided
