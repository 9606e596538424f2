import subprocess
import sys


def test_help_has_sections(ran):
    shown = ran("--help").output
    results = shown.index("Commands about results:")
    assert (
        results < shown.index("  report ") < shown.index("Commands about experiments:")
    )
    assert shown.index("Commands about experiments:") < shown.index("  replay ")
    assert "130 stopped by Ctrl-C" in " ".join(shown.split())


def test_help_loads_nothing_heavy():
    code = "from curvewise.cli import main; import sys; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True
    )
    assert {b"numpy", b"sklearn", b"rich", b"tomllib"}.isdisjoint(found.stdout.split())
