"""Settings of every test."""

from hypothesis import settings

settings.register_profile("same_examples_each_time", derandomize=True, deadline=None)
settings.load_profile("same_examples_each_time")
