"""What the site of the documentation needs beyond mkdocs itself: `make docs`."""
