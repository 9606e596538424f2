"""Pages of the documentation: they say what comes out, and their links lead somewhere."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import matplotlib.pyplot as plt
from click.testing import CliRunner

from curvewise.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.S)


def text_of(page):
    return (ROOT / page).read_text()


def run_blocks(text, page):
    """Run a page's Python in order; return what was printed beside what it says was."""
    names, said, pairs = {"__name__": "__main__"}, None, []
    for kind, block in BLOCK.findall(text):
        if kind == "text":
            assert said is not None, f"{page}: nothing was run before {block[:60]!r}"
            pairs.append((said.getvalue(), block))
            said = None
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block, page, "exec"), names)
    plt.close("all")
    return pairs


def assert_says_what_comes_out(page, printed, pictures, folder):
    """Run a page in a folder: it prints so many blocks, and leaves these pictures."""
    text = text_of(page)
    pairs = run_blocks(text, page)
    assert len(pairs) == printed
    for said, written in pairs:
        assert written.split() == said.split()
    assert {path.name for path in folder.glob("*.png")} == pictures
    for name in pictures:
        assert f"../images/{name}" in text
        assert (ROOT / "docs/images" / name).exists()


def followed_anchors(pages):
    """Follow all links of pages; return how many of them name a heading."""
    found = 0
    for name in pages:
        page = ROOT / name
        for target in re.findall(r"\]\(([^)\s]+?)\)", page.read_text()):
            path, _, anchor = target.partition("#")
            other = (page.parent / path).resolve() if path else page
            assert other.exists(), target
            if anchor:
                found += 1
                assert anchor in _anchors(other), target
    return found


def _anchors(page):
    heads = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    plain = [
        re.sub(r"[`,?'.:()]", lambda m: "-" if m[0] == "." else "", h) for h in heads
    ]
    return {re.sub(r"-+", "-", h.lower().replace(" ", "-")).strip("-") for h in plain}


def commands_run(page):
    """Run the commands of a page here; return the words and the output of each."""
    out = []
    for command in re.findall(r"^\$ curvewise (.+)$", text_of(page), re.M):
        words = shlex.split(command.split(">")[0])
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        out.append((words, done.stdout))
    return out
