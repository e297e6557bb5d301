"""Answers as data: what the command line prints as JSON and the HTTP interface sends, made in one place."""
