"""Tables for papers: a LaTeX compiler sets them, whatever the names are."""

import re
import shutil
import subprocess
import unicodedata

import numpy as np
import pytest
from answers import ANSWERS, answer, searched
from hypothesis import given
from hypothesis import strategies as st

import curvewise as cw
from curvewise.errors import CurvewiseError
from curvewise.latex import in_latex, latex
from curvewise.text import in_markdown

DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\usepackage[paperwidth=5in,paperheight=190in,margin=0.2in]{geometry}
\pagestyle{empty}
\begin{document}
%s
\end{document}
"""
NAMES = {
    "a command": r"\input{/etc/passwd}",
    "specials": r"50 % & a_b ^2 ~ # {x} $y$",
    "a backslash at the end": "path\\",
    "a line break": r"one \\ two",
    "quotes": "\"double\" 'single' `back`",
    "angles": "<b>|c>",
    "dashes": "a--b---c -- d",
    "commas": "a,,b << >> ?`!`",
    "a bracket": "[net] of a row",
    "a star": "* best",
    "accents": "Müller-Łódź, Señor Çelik, Ångström",
    "Greek": "αβγ ΔΩ και",
    "signs": "± \N{EN DASH} … ≤ ≥ \N{MULTIPLICATION SIGN} → ° µ \N{MINUS SIGN} ∞ ²",
    "Hebrew": "שלום",
    "Chinese": "学习",
    "an emoji": "fast 😀",
    "control characters": "a\x00b\x07c\x1b[0m\td\ne",
    "right to left": "a\u202eb\u200bc",
    "not composed": "e\u0301a\u0308",
    "ten thousand letters": "long" * 2_500,
    "empty": "",
    "a number": "-3",
}


def compiled(folder, body, document=DOCUMENT):
    """Return the errors of pdfLaTeX, and the text of what it set."""
    if not (shutil.which("pdflatex") and shutil.which("pdftotext")):
        pytest.skip("no pdflatex or pdftotext; make services installs them")
    path = folder / "paper.tex"
    path.write_text(document % body, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", path.name],
        cwd=folder,
        capture_output=True,
        timeout=120,
        check=False,
    )
    log = done.stdout.decode("utf-8", "replace")
    errors = re.findall(r"^! .*$", log, re.M)
    assert (done.returncode == 0) == (not errors), log[-2000:]
    pdf = folder / "paper.pdf"
    if not pdf.exists():
        return errors, ""
    text = subprocess.run(
        ["pdftotext", "-layout", "-enc", "UTF-8", pdf.name, "-"],
        cwd=folder,
        capture_output=True,
        timeout=60,
        check=True,
    )
    return errors, text.stdout.decode()


SETTER = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "`": "'",
        "“": '"',
        "”": '"',
        "∆": "Δ",
        "◦": "°",
        "Ł": "L",
        # Drawn as rules and accents, they are no letters to who reads the PDF.
        **dict.fromkeys("_^~\u02c6\u02dc\u0303"),
    }
)


def plain(text):
    """Return text without what a typesetter adds or takes: spaces, ligatures, quotes."""
    whole = unicodedata.normalize("NFKC", text).translate(SETTER)
    return re.sub(r"\s", "", whole)


# --- a compiler sets them ----------------------------------------------------------------


@pytest.mark.service
def test_the_tables_of_every_kind_of_answer_compile(tmp_path):
    parts = []
    for kind in ANSWERS:
        one = answer(kind)
        parts += [kind, one.to_latex(), one.to_latex(caption="It's 5 % of a_b.")]
        if hasattr(one, "table"):
            several = "task" in one.table.__code__.co_varnames[:2]
            rows = one.table(one.tasks[0]) if several else one.table()
            parts.append(one.to_latex(rows, label=f"tab:{kind}"))
    errors, text = compiled(tmp_path, "\n\n".join(parts))
    assert errors == []
    for name in ("forest", "trees", "hyperparameters", "cvar_best", "rings"):
        assert plain(name) in plain(text)
    assert plain("It's 5 % of a_b.") in plain(text)


@pytest.mark.service
@pytest.mark.slow
def test_the_examples_compile(tmp_path):
    search = cw.performance(cw.example("search"), "accuracy", failed="worst")
    tables = [
        search,
        cw.difference(cw.example("curves"), shuffles=99),
        cw.learning(cw.example("counts"), "error"),
        cw.confusion(cw.example("counts")),
        *(cw.explain(cw.example(name)) for name in ("search", "curves", "counts")),
    ]
    errors, text = compiled(tmp_path, "\n\n".join(one.to_latex() for one in tables))
    assert errors == []
    assert "net" in text


@pytest.mark.service
def test_hostile_names_compile_and_can_be_recognised(tmp_path):
    names = list(NAMES.values())
    parts = [
        latex([{"what": name, "n": -i / 7} for i, name in enumerate(names)]),
        latex([{"n": i, "what": name} for i, name in enumerate(names)]),
        # Headings side by side would be wider than TeX can count.
        *(latex([{name: 1}]) for name in names),
        *(latex([{"n": 1}], caption=n, label=f"tab:{i}") for i, n in enumerate(names)),
    ]
    errors, text = compiled(tmp_path, "\n\n".join(parts))
    assert errors == []
    found = plain(text)
    codes = {"an emoji": "fast [U+1F600]", "Hebrew": "[U+05E9][U+05DC]"}
    codes |= {
        "control characters": "a[U+0000]b[U+0007]c[U+001B][0m d e",
        "right to left": "a[U+202E]b[U+200B]c",
        "Chinese": "[U+5B66][U+4E60]",
        "ten thousand letters": "longlong",
        "not composed": "éä",
    }
    for kind, name in NAMES.items():
        assert plain(codes.get(kind, name)) in found, kind
    assert "root:x:0" not in found  # nothing was read from the machine


@pytest.mark.service
@pytest.mark.parametrize(
    "name", ["50 % & more_of", r"\undefined", "שלום", "a{b", "a\x07b"]
)
def test_a_name_that_nobody_escaped_would_fail(tmp_path, name):
    """The negative control."""
    table = latex([{"name": "PLACE", "n": 1}])
    assert compiled(tmp_path, table)[0] == []
    errors, _ = compiled(tmp_path, table.replace("PLACE", name))
    assert errors


@pytest.mark.service
def test_a_bracket_that_nobody_guards_would_be_eaten(tmp_path):
    """The negative control: after a line break a bracket is read as its argument."""
    table = latex([{"name": "a"}, {"name": "[1pt] b"}])
    assert "[1pt]" in compiled(tmp_path, table)[1]
    assert "[1pt]" not in compiled(tmp_path, table.replace("{}[", "["))[1]


@pytest.mark.service
@pytest.mark.slow
def test_any_letters_compile(tmp_path):
    """All of the first planes of Unicode, and random texts, in one document."""
    rng = np.random.default_rng(0)
    letters = [chr(c) for c in range(0x250) if c != 10]
    letters += [chr(c) for c in range(0x370, 0x600)]
    letters += [chr(c) for c in rng.integers(0x600, 0xD800, 500)]
    names = ["".join(letters[i : i + 40]) for i in range(0, len(letters), 40)]
    names += ["".join(rng.choice(letters, 30)) for _ in range(200)]
    errors, _ = compiled(tmp_path, latex([{"name": name} for name in names]))
    assert errors == []


@pytest.mark.service
def test_a_wide_table_can_be_made_to_fit(tmp_path):
    """As the page on papers says."""
    wide = cw.performance(searched(), failed="worst")
    fitted = rf"\resizebox{{\linewidth}}{{!}}{{{wide.to_latex()}}}"
    document = DOCUMENT.replace(r"\pagestyle", "\\usepackage{graphicx}\n\\pagestyle")
    errors, text = compiled(tmp_path, fitted, document)
    assert errors == []
    assert plain("cvar_worst_upper") in plain(text)


def averaged(suffix=""):
    """Return settings that were run with three seeds, judged by what the name says."""
    name = f"accuracy{suffix}"
    meant = cw.Metric(name, "higher", source="name")
    runs = (
        cw.Trial(
            *("t", who, 3 * i + seed, {name: 0.5 + i / 100 + seed / 1000}),
            params={f"lr{suffix}": 0.0123456789 * (i + 1)},
            labels={"seed": seed},
        )
        for who in ("svm", "svm tuned")
        for i in range(9)
        for seed in range(3)
    )
    return cw.Trials(runs, [meant])


@pytest.mark.service
@pytest.mark.parametrize("kind", NAMES)
def test_notes_below_a_table_compile_whatever_the_names_are(kind, tmp_path):
    one = cw.performance(averaged(NAMES[kind]))
    parts = [one.to_latex(), one.to_latex(caption="c", columns=["mean"])]
    errors, text = compiled(tmp_path, "\n\n".join(parts))
    assert errors == []
    assert plain(text).count(plain("intervals and quantiles are for settings.")) == 2
    assert plain("higher is better (from its name)") in plain(text)


# --- what is written ---------------------------------------------------------------------


AVERAGED = {
    "performance": cw.performance,
    "robustness": cw.robustness,
    "plan": lambda t: cw.plan.trials(0.05, of="mean", pilot=t),
    "versions": lambda t: cw.compare_versions(t, t),
    "difference": lambda t: cw.difference(curves_of(t), shuffles=99),
    "explain": cw.explain,
}


def curves_of(trials):
    """Return the same runs with curves."""
    name = next(iter(trials.metrics))
    rows = (
        cw.Trial(
            *(t.task, t.algorithm, t.number),
            {name: [0.1, 0.2, t.metrics[name][0] + t.number / 99]},
            params=t.params,
            labels=t.labels,
        )
        for t in trials
    )
    return cw.Trials(rows, [*trials.metrics.values()])


@pytest.mark.parametrize("kind", AVERAGED)
def test_tables_for_papers_say_what_print_says(kind):
    """What tempers stands below them: in Markdown, in LaTeX, and in its table."""
    trials = averaged()
    one = AVERAGED[kind](trials)
    lines = [trials.metric("accuracy").assumption]
    lines += [trials.design.caution] if kind not in ("difference", "explain") else []
    for line in lines:
        assert line in " ".join(str(one).split())
        assert one.to_markdown().split("\n\n").count(in_markdown(line)) == 1
        for made in (one.to_latex(), one.to_latex(caption="c")):
            note = rf"{{\footnotesize {in_latex(line)}\par}}"
            assert made.count(note) == 1
            assert made.index(r"\end{tabular}") < made.index(note)
            assert made.find(r"\end{table}") in (-1, len(made) - len(r"\end{table}"))


def test_a_table_without_cautions_has_nothing_below_it():
    stated = averaged().with_metrics({"accuracy": "higher"}).with_design(cluster=[])
    one = cw.performance(stated, anyway=True)
    assert one.to_markdown().splitlines()[-1].startswith("|") == (not one.cautions)


def test_a_name_means_nothing_to_markdown_below_a_table():
    one = cw.performance(averaged("*<b>|x_"))
    assert one.to_markdown().endswith(
        r"accuracy\*&lt;b>\|x\_: higher is better (from its name)"
    )


def test_numbers_have_their_sign_and_their_powers():
    rows = [{"a": -0.5, "b": 1e-9, "c": float("inf"), "d": -float("inf"), "e": -3e20}]
    assert latex(rows).splitlines()[4] == (
        r"$-$0.5000 & $1 \times 10^{-9}$ & $\infty$ & $-\infty$ & $-3 \times 10^{20}$ \\"
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("0.82 [-0.1, +0.2]", "0.82 [$-$0.1, +0.2]"),
        ("-3", "$-$3"),
        ("ResNet-18", "ResNet-18"),
        ("a--b", "a-{}-b"),
        ("naïve", "naïve"),
        ("x,,y", "x,{},y"),
        ("it's", "it's"),
        ("''", "'{}'"),
        ("≤", r"$\leq$"),
        ("Ω", r"$\Omega$"),
        ("Α", "A"),  # noqa: RUF001  a capital Alpha
        ("\x00", "[U+0000]"),
        ("a\nb", "a b"),
        ("\ud800", "[U+D800]"),
    ],
)
def test_texts_are_written_as_they_are_to_be_read(text, written):
    assert in_latex(text) == written


@given(st.text())
def test_no_text_can_put_a_command_into_a_table(text):
    written = in_latex(text)
    ours = {in_latex(letter) for letter in text} | {"$-$", r"\ldots{}"}
    known = {name for one in ours for name in re.findall(r"\\([A-Za-z]+)", one)}
    commands = re.findall(r"\\([A-Za-z]+)", written)
    assert set(commands) <= known
    assert not known & {"input", "include", "write", "def", "begin", "end"}
    opened = re.sub(r"\\[{}]", "", written)
    assert opened.count("{") == opened.count("}")
    assert written.isprintable()


def test_columns_are_chosen_and_named():
    rows = [{"a": 1, "b": "x", "c": 2}]
    assert latex(rows, columns=["c", "a"]).splitlines()[2] == r"c & a \\"
    named = latex(rows, columns={"b": "Method", "a": "n"}).splitlines()
    assert named[0] == r"\begin{tabular}{lr}"
    assert named[2] == r"Method & n \\"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": ["aa"]}, "There is no column 'aa'. Did you mean 'a'"),
        ({"columns": "a"}, "columns is 'a'. Pass a list"),
        ({"columns": []}, "columns is empty"),
        ({"label": "tab}{"}, "label is 'tab}{'. Pass letters"),
    ],
)
def test_what_cannot_be_is_refused(options, said):
    with pytest.raises(CurvewiseError, match=re.escape(said)):
        latex([{"a": 1}], **options)


def test_a_caption_or_a_label_makes_it_a_table():
    table = latex([{"a": 1}], caption="5 % of b", label="tab:a").splitlines()
    assert table[0] == r"\begin{table}"
    assert r"\caption{5 \% of b}" in table
    assert r"\label{tab:a}" in table
    assert table[-1] == r"\end{table}"
    assert latex([{"a": 1}]).startswith(r"\begin{tabular}")


def test_nothing_is_no_table():
    assert latex([]) == ""


def test_an_answer_writes_the_table_that_is_passed():
    one = answer("Performance")
    task = one.tasks[0]
    assert "best 50" not in one.to_latex()
    assert r"best 50 \%" in one.to_latex(one.table(task))
    few = one.to_latex(columns=["algorithm", "mean"])
    assert few.splitlines()[2] == r"algorithm & mean \\"
