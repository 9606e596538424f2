"""Results from elsewhere: read them, and look at them as a careful reviewer would."""
