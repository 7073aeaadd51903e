"""What people read of an adoption: the screen, the report, and what a takeover does."""
