"""A team's database, for the commands that fill one."""

from postgres import postgres_url  # noqa: F401
