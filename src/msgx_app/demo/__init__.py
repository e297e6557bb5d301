"""A compressed airport day on the embedded set, in one process: `python -m msgx_app.demo`."""
