"""Lines on common steps, and what chance makes of their means.

What is here knows nothing of the rest of the room.
"""
