"""MJCF, the format of MuJoCo, read; docs/mjcf.md describes what is."""

from linkwise.files.mjcf.reader import cannot_save as cannot_save
from linkwise.files.mjcf.reader import parse as parse
