import subprocess
import sys

import click

from curvewise.cli import main, sections


def test_help_has_sections(ran):
    shown = ran("--help").output
    results = shown.index("Commands about results:")
    assert (
        results < shown.index("  report ") < shown.index("Commands about experiments:")
    )
    assert shown.index("Commands about experiments:") < shown.index("  replay ")


def test_a_command_says_of_itself_what_the_list_says_of_it():
    context = click.Context(main)
    lines = [line for commands in sections().values() for line in commands.items()]
    for name, (_, told) in lines:
        command = main.get_command(context, name)
        assert (command.name, command.get_short_help_str(1000)) == (name, told)
    ours = [name for name in main.list_commands(context) if name != "paper"]  # added
    assert sorted(name for name, _ in lines) == ours


def test_help_loads_nothing_heavy():
    code = "from curvewise.cli import main; import sys; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True
    )
    assert {b"numpy", b"sklearn", b"rich", b"tomllib"}.isdisjoint(found.stdout.split())
