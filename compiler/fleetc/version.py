"""The version of fleetc: the one place that states it (read by the build, the manifest and `fleetc --version`)."""

__version__ = "0.1.0"
