"""`make demo-live`: the commands that watch a fleet, run as a person types them, on a fleet of stand-ins."""
