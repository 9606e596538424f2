"""One error, one warning, and messages that name the fix."""

import ast
import copy
import math
import pickle
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import curvewise
from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    Keyword,
    Message,
    Phrase,
    Verbatim,
    as_keywords,
    as_words,
    listed,
    shortened,
    trials_where,
    unknown,
    whole,
)
from curvewise.metrics import Metric
from curvewise.stats.validation import checked_confidence, checked_size, one_of


def test_our_error_is_a_value_error_and_our_warning_a_user_warning():
    assert issubclass(CurvewiseError, ValueError)
    assert issubclass(CurvewiseWarning, UserWarning)


def test_fixes_are_data_and_end_the_message():
    fixes = [{"metrics": {"my loss": "lower"}}, {"trial": ["seed", "fold"]}]
    error = CurvewiseError("Which one?", fixes=fixes)
    assert error.fixes == tuple(fixes)
    assert str(error).startswith("Which one?")
    assert eval(f"dict({as_keywords(fixes[1])})") == fixes[1]
    assert as_words(fixes[0]) == ["--metrics", "'my loss=lower'"]
    assert as_words({"trial": []}) == ["--trial", "row"]
    assert " ".join(as_words(fixes[1])) in error.as_options()


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (Metric("return", "higher"), "higher"),
        (Metric("acc", "higher"), "higher::"),
        (Metric("acc", "higher", (0, 1)), "higher"),
        (Metric("loss", "lower", (0, math.inf)), "lower:0:"),
        (Metric("my score", "higher", (-math.inf, 2.5)), "higher::2.5"),
        (Metric("score", "lower", (-1, 1e-9)), "lower:-1:1e-09"),
    ],
)
def test_a_metric_in_a_fix_is_said_as_it_can_be_typed(metric, text):
    fix = {"metrics": {metric.name: metric}}
    words = as_words(fix)
    assert shlex.split(" ".join(words)) == ["--metrics", f"{metric.name}={text}"]
    passed = eval(f"dict({as_keywords(fix)})")
    assert passed == {"metrics": {metric.name: text}}
    again = Metric.of_text(metric.name, text)
    assert (again.direction, again.range) == (metric.direction, metric.range)


def test_a_metric_without_a_direction_is_named():
    fix = {"metrics": {"value": Metric("value")}}
    assert as_words(fix) == ["--metrics", "value"]


def test_an_error_survives_a_pickle_with_its_fixes():
    error = CurvewiseError("Which one?", fixes=[{"unit": "percent"}])
    again = pickle.loads(pickle.dumps(error))
    assert (again.text, again.fixes, str(again)) == (
        *(error.text, error.fixes, str(error)),
    )


def test_an_unknown_name_is_answered_with_the_nearest_and_with_all():
    error = unknown("task", "Hoper", ["Hopper", "Walker"])
    assert isinstance(error, CurvewiseError)
    assert str(error) == (
        "There is no task 'Hoper'. Did you mean 'Hopper'? "
        "There are: 'Hopper', 'Walker'."
    )


def test_the_nearest_name_is_found_whatever_its_case():
    assert "Did you mean 'ACC'?" in str(unknown("metric", "acc", ["loss", "ACC"]))


def test_a_name_like_none_of_the_others_gets_no_guess():
    message = str(unknown("metric", "zzz", ["loss", "accuracy"]))
    assert message == "There is no metric 'zzz'. There are: 'loss', 'accuracy'."


def test_where_nothing_is_known_the_message_says_so():
    assert (
        str(unknown("label", "seed", [])) == "There is no label 'seed'. There are none."
    )


def test_of_two_names_that_differ_in_case_the_first_is_offered():
    assert "Did you mean 'Acc'?" in str(unknown("metric", "acc1", ["Acc", "ACC"]))


def test_names_need_not_be_texts():
    assert "There is no step '12'." in str(unknown("step", 12, [1, 2, 120]))


def test_a_long_list_of_names_is_cut_and_the_rest_counted():
    message = str(unknown("task", "x", [f"task {i}" for i in range(100)]))
    assert "'task 11' and 88 more." in message
    assert "'task 12'" not in message


def test_a_very_long_name_does_not_fill_the_screen():
    assert len(str(unknown("task", "é" * 10_000, ["ü" * 10_000] * 50))) < 1200


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "'a'"),
        (["a", "b"], "'a', 'b'"),
        (["a", "b", "c"], "'a', 'b' and 1 more"),
        ([1, None], "'1', 'None'"),
    ],
)
def test_names_are_listed_in_quotes(names, text):
    assert listed(names, most=2) == text


@given(st.text(), st.integers(2, 80))
def test_a_shortened_name_is_one_line_of_bounded_length(name, most):
    short = shortened(name, most)
    assert len(short) <= most
    assert len(short.splitlines()) <= 1
    assert shortened(short, most) == short


def test_a_name_that_fits_keeps_all_its_words():
    assert shortened(" two\n words\t") == "two words"
    assert shortened("a" * 60) == "a" * 60
    assert shortened("a" * 61) == "a" * 59 + "…"


# --- dialects ----------------------------------------------------------------------------


def test_a_message_is_its_python_text_and_can_be_read_in_a_shell_and_in_toml():
    message = Message(
        *("Leave ", Keyword("memory"), " out, or pass ", {"executor": "local"}, ".")
    )
    assert message == "Leave memory= out, or pass executor='local'."
    assert message.as_options() == "Leave --memory out, or pass --executor local."
    assert message.as_toml() == 'Leave memory out, or pass executor = "local".'
    assert message.fixes == ({"executor": "local"},)  # what is only named is no fix


@pytest.mark.parametrize(
    ("part", "python", "shell", "toml"),
    [
        ("text", "text", "text", "text"),
        ({"step": ...}, "step=", "--step", "step"),
        ({"force": True}, "force=True", "--force", "force = true"),
        ({"paired": False}, "paired=False", "--no-paired", "paired = false"),
        ({"retries": 3}, "retries=3", "--retries 3", "retries = 3"),
        ({"over_tasks": True}, "over_tasks=True", "--over-tasks", "over_tasks = true"),
        (
            {"failed": Verbatim("<score>")},
            *("failed=<score>", "--failed <score>", "failed = <score>"),
        ),
        (
            {"step": "<column>"},
            *("step='<column>'", "--step <column>", 'step = "<column>"'),
        ),
        (
            {"metrics": {"f": "lower"}},
            "metrics={'f': 'lower'}",
            "--metrics f=lower",
            '[metrics], and below it f = "lower"',
        ),
        (
            {"metrics": [...]},
            *("metrics=[...]", "--metrics NAME", 'metrics = ["NAME"]'),
        ),
        (
            {"trial": ["seed", "my fold"]},
            "trial=['seed', 'my fold']",
            "--trial seed --trial 'my fold'",
            'trial = ["seed", "my fold"]',
        ),
        (
            {"unit": "percent", "task": "a b"},
            "unit='percent', task='a b'",
            "--unit percent --task 'a b'",
            'unit = "percent", task = "a b"',
        ),
        (Keyword("unit", "percent"), "unit='percent'", "--unit percent", None),
        (Phrase("a"), "a", "a", "a"),
        (Phrase("a", shell="b"), "a", "b", "a"),
        (Phrase("a", toml="c"), "a", "a", "c"),
        (
            trials_where(task="a", algorithm=[...]),
            "trials.where(task='a', algorithm=[...])",
            "--where task=a --where algorithm=NAME",
            None,
        ),
    ],
)
def test_a_part_in_each_dialect(part, python, shell, toml):
    message = Message(part)
    assert str(message) == python
    assert message.as_options() == shell
    assert toml is None or message.as_toml() == toml


def test_a_keyword_that_a_command_does_not_know_stays_python():
    message = Message("Pass ", {"pairs": {"a": "b"}}, " or ", {"flips": 9}, ".")
    told = message.as_options({"pairs": "--pair"})
    assert told == "Pass --pair a=b or flips=9."


def test_an_argument_of_a_command_is_said_in_words():
    message = Message("Pass ", {"pilot": Verbatim("<a few trials>")}, ".")
    told = message.as_options({"pilot": "a file of"})
    assert told == "Pass a file of a few trials."


def test_a_keyword_that_a_file_cannot_have_stays_python():
    message = Message("Pass ", {"failed": "worst"}, " or ", {"retries": 2}, ".")
    assert message.as_toml({"retries"}) == "Pass failed='worst' or retries = 2."


def test_braces_and_signs_of_names_are_no_keywords():
    message = Message("Run 'lr=1,seed=3' of {a}. Pass ", {"roles": "{algorithm}"}, ".")
    assert message.as_options() == (
        "Run 'lr=1,seed=3' of {a}. Pass --roles '{algorithm}'."
    )


def test_a_message_in_a_message_keeps_its_parts():
    inner = CurvewiseError("Which one?", fixes=[{"task": "a"}, {"task": "b"}])
    outer = CurvewiseError("plan.toml: ", inner.message)
    assert str(outer) == "plan.toml: Which one? Pass task='a', or task='b'."
    assert outer.as_options() == "plan.toml: Which one? Pass --task a, or --task b."
    assert outer.as_toml() == ('plan.toml: Which one? Pass task = "a", or task = "b".')
    assert outer.message.fixes == ({"task": "a"}, {"task": "b"})


def test_an_error_with_fixes_in_its_midst_has_them_as_data():
    error = CurvewiseError(
        *("Pass ", {"failed": "worst"}, " or ", {"failed": 0}, "; do not drop them.")
    )
    assert error.message.fixes == ({"failed": "worst"}, {"failed": 0})
    assert error.fixes == ()  # those that end a message answer it by themselves


def test_a_warning_has_its_message():
    warning = CurvewiseWarning(Message("Pass ", {"unit": "percent"}, "."))
    assert str(warning) == "Pass unit='percent'."
    assert warning.message.as_options() == "Pass --unit percent."
    assert CurvewiseWarning("plain").message.as_options() == "plain"


def test_the_first_sentence_of_a_message_keeps_its_parts():
    message = Message("Read with ", {"unit": "percent"}, ". If not, ", {"step": ...})
    assert message.first_sentence().as_options() == "Read with --unit percent"
    assert Message("One.").first_sentence() == "One"
    assert Message().first_sentence() == ""


def test_a_message_that_is_cut_is_a_plain_text():
    message = Message("Read with ", {"unit": "percent"}, ".")
    assert shortened(message).as_options() == "Read with --unit percent."
    assert shortened(message, 12) == "Read with u…"


def test_messages_survive_copies():
    message = Message("Pass ", Keyword("unit", Verbatim("<it>")), {"step": ...}, ".")
    for again in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):
        assert (again, again.parts) == (message, message.parts)
        assert again.as_options() == message.as_options()


# --- what was wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "argument", "value"),
    [
        (lambda: whole(2.5, "trials"), "trials", 2.5),
        (lambda: checked_confidence(7), "confidence", 7),
        (lambda: checked_size("x", "resamples"), "resamples", "x"),
        (lambda: one_of("kind", "dwk", ["dkw"]), "kind", "dwk"),
    ],
)
def test_an_error_knows_which_argument_was_wrong_and_what_came(made, argument, value):
    with pytest.raises(CurvewiseError) as caught:
        made()
    assert (caught.value.argument, caught.value.value) == (argument, value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.argument, again.value) == (argument, value)
    assert str(again) == str(caught.value)


def test_an_unknown_name_is_the_value_that_was_wrong():
    error = unknown("task", "Hoper", ["Hopper"])
    assert (error.argument, error.value) == ("task", "Hoper")
    plain = CurvewiseError("Which one?")
    assert (plain.argument, plain.value) == (None, None)


def test_a_value_that_cannot_leave_the_process_leaves_as_what_it_looks_like():
    error = CurvewiseError("No.", argument="fit", value=lambda: 0)
    again = pickle.loads(pickle.dumps(error))
    assert again.argument == "fit"
    assert again.value.startswith("<function")


# --- what is written in the sources ------------------------------------------------------

SAYING = {
    "CurvewiseError",
    "UnknownDirection",
    "Blocked",
    "Message",
    "CurvewiseWarning",
}


def public_keywords(trees):
    """Return the names of parameters of public functions, however they are called."""
    return {
        argument.arg
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and (not node.name.startswith("_") or node.name == "__init__")
        for argument in (*node.args.args, *node.args.kwonlyargs)
    }


def literals(node):
    """Yield the texts of a message; what stands in data or in `Phrase` is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        # A name that is put in may be the keyword, or its value.
        told = (v.value if isinstance(v, ast.Constant) else "x" for v in node.values)
        yield "".join(told)
    elif isinstance(node, ast.BinOp):
        yield from (*literals(node.left), *literals(node.right))
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))
    elif isinstance(node, ast.Starred | ast.Tuple | ast.List):
        for child in ast.iter_child_nodes(node):
            yield from literals(child)


def keywords_in_texts(tree, keywords):
    """Yield the line and the text of each message that writes a keyword by hand."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in SAYING or (name == "warn" and node.args):
            for text in (text for part in node.args for text in literals(part)):
                found = re.findall(r"(?<![\w.?&-])(\w+)=(?!=)", text)
                if set(found) & {*keywords, "x"}:
                    yield node.lineno, text


def test_no_message_writes_a_keyword_by_hand():
    files = sorted(Path(curvewise.__file__).parent.rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    keywords = public_keywords(trees.values())
    assert {"failed", "executor", "metrics", "half_width"} <= keywords
    found = [
        f"{path}:{line}: {text}"
        for path, tree in trees.items()
        for line, text in keywords_in_texts(tree, keywords)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        'raise CurvewiseError("Pass failed=.")',
        "raise CurvewiseError(f\"Pass {x}, or failed='{x}'.\")",
        'raise CurvewiseError("Pass ", {"step": ...}, " or failed=<score>.")',
        'Message("Leave failed= out.")',
        'warnings.warn("Pass failed=1.", CurvewiseWarning)',
        'raise CurvewiseError(f"Pass {keyword}=.")',
    ],
)
def test_a_keyword_that_is_written_by_hand_is_found(line):
    assert [*keywords_in_texts(ast.parse(line), {"failed", "step"})]


@pytest.mark.parametrize(
    "line",
    [
        'raise CurvewiseError("Pass ", {"failed": ...}, ".")',
        'raise CurvewiseError(Keyword("failed"), " is for others.")',
        'raise CurvewiseError(Phrase("f(..., failed=1)"), " does it.")',
        'print("failed=1")',
    ],
)
def test_keywords_as_data_are_no_text(line):
    assert not [*keywords_in_texts(ast.parse(line), {"failed"})]
