"""Every store keeps the same promises: tests that take `where` hold both to them."""

import itertools

import pytest
from postgres import new_url, postgres_url  # noqa: F401


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.service)],
)
def new_place(request, tmp_path):
    """Return a function that returns places where no store is yet."""
    names = itertools.count(1)
    if request.param == "sqlite":
        return lambda: tmp_path / f"{next(names)}.db"
    return new_url


@pytest.fixture
def where(new_place):
    """Return a place where no store is yet."""
    return new_place()
