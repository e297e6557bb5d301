"""The application: settings, wiring, the daemon and the command line."""
