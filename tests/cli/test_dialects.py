"""What messages call a keyword at a terminal: what the commands call it."""

import click
import pytest

from curvewise.cli import main
from curvewise.errors import Message, Verbatim
from curvewise.questions.commands import in_shell, option_names


@pytest.fixture
def ctx():
    return click.Context(main)


@pytest.mark.parametrize(
    ("keyword", "option"),
    [
        ("failed", "--failed"),
        ("half_width", "--half-width"),
        ("pairs", "--pair"),
        ("experiment", "--experiment"),
        ("where", "--where"),
    ],
)
def test_a_keyword_is_called_what_its_command_calls_it(ctx, keyword, option):
    assert option_names(ctx)[keyword] == option


def test_a_keyword_of_no_command_stays_python(ctx):
    message = Message({"flips": 999}, ", ", {"failed": "worst"})
    assert in_shell(message, ctx) == "flips=999, --failed worst"


def test_the_source_of_a_plan_is_said_in_words(ctx):
    message = Message({"pilot": Verbatim("<runs>")})
    assert in_shell(message, ctx) == "a file of runs"


def test_a_plain_text_stays_as_it_is(ctx):
    assert in_shell("Found run 'net_lr=1,seed=3'.", ctx) == (
        "Found run 'net_lr=1,seed=3'."
    )


def test_without_commands_every_keyword_is_an_option():
    assert option_names(None) is None
    assert in_shell(Message({"flips": 9})) == "--flips 9"
