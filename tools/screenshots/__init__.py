"""Pictures of the console for the documentation: `make screenshots`."""
