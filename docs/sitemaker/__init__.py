"""The documentation site: gathers the pages, writes those of the public names, and checks what Sphinx made of them."""
