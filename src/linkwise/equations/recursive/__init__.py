"""The recursive form: a tape as it is computed, with the names of textbooks."""
