"""Crashes at every boundary of the pipeline: kinds of messages, what is left of them, and two worlds.

One world is in memory and crashes by an exception, the other is the real set and crashes by `kill -9`.
"""
