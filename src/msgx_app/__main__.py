"""`python -m msgx_app` is the `msgx` command."""

from msgx_app.cli import main

if __name__ == "__main__":
    main()
