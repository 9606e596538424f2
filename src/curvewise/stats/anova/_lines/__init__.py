"""Lines on common steps, and what chance makes of their means."""
