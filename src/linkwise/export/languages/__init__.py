"""The languages that code is generated in, one file each."""
