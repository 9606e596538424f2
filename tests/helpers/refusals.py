"""What an error says, as data."""


def said_by(error):
    """Return the argument that an error names, and each fix that it offers."""
    return (error.argument, *map(dict, error.message.fixes))
