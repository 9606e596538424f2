"""The live page in a real browser: it moves, recovers, and runs nothing of others'."""

import signal

import pytest
from browser import listen
from live import serving

import curvewise as cw
from curvewise import Algorithm, Experiment, Task, Trial, Trials, store

pytestmark = pytest.mark.service

NETWORK = "Failed to load resource: net::ERR_"  # what a browser says of a lost server


def some(numbers, algorithm="svm", task="moons", **fields):
    return Trials(
        Trial(task, algorithm, n, {"accuracy": n % 10 / 10}, **fields) for n in numbers
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def context(browser):
    """Tabs of one browser, which share what tabs share."""
    new = browser.new_context(viewport={"width": 1200, "height": 900})
    yield new
    new.close()


def opened(context, server, fragment="", *, draws=True):
    """Return a page; without charts it is all but a chart, and there much sooner."""
    page = context.new_page()
    page.heard = listen(page)
    if not draws:
        page.route("**/plotly.js*", lambda route: route.fulfill(body=""))
    page.goto(server.url + fragment)
    return page


def shows(page, text, place="headline", timeout=10_000):
    """Wait until an element says something."""
    page.wait_for_function(
        "([id, text]) => document.getElementById(id).textContent.includes(text)",
        arg=[place, text],
        timeout=timeout,
    )


def drawn(page):
    """Return the heights of the first curve that is drawn."""
    return page.evaluate(
        "Array.from(document.getElementById('chart')._fullData"
        ".find(trace => trace.fill !== 'toself').y)"
    )


def assert_quiet(page, *, but=()):
    rest = [c for c in page.heard.complaints if not any(b in c for b in but)]
    assert rest == []


# --- it moves ----------------------------------------------------------------------------


@pytest.mark.slow
def test_eight_tabs_move_while_trials_arrive(context, path):
    """Six connections are all that a browser has for one server."""
    store.write(some(range(10)), path)
    with serving(path) as server:
        pages = [opened(context, server, draws=i == 7) for i in range(8)]
        for page in pages:
            shows(page, "10 trials")
        shows(page, "10", "numbers")
        page.wait_for_selector("#chart .scatterlayer")
        before = drawn(page)
        store.write(some(range(10, 40)), path)
        store.write(some([40], status="failed", error="ValueError: diverged"), path)
        for page in pages:
            shows(page, "41 trials")
            shows(page, "ValueError: diverged", "mishaps")
            shows(page, "41", "numbers")
        assert drawn(page) != before
        assert page.title() == "runs.db – curvewise"  # noqa: RUF001
        # A name shows and hides its curve, and it stays hidden when more comes.
        name = page.locator("#numbers .curve")
        assert name.get_attribute("aria-pressed") == "true"
        name.click()
        page.wait_for_selector("#numbers .curve[aria-pressed=false]")
        assert page.locator("#chart .scatterlayer .trace").count() == 0
        streams = [url for page in pages for url in page.heard.requests]
        assert sum(url.endswith("/events") for url in streams) == 1
        assert all(url.startswith((server.url, "data:")) for url in streams)
        # The tab that listens closes: another one listens.
        leader = next(p for p in pages if any("/events" in r for r in p.heard.requests))
        leader.close()
        rest = [page for page in pages if page is not leader]
        store.write(some(range(41, 50)), path)
        for one in rest:
            shows(one, "50 trials")
            assert_quiet(one)
        if page is not leader:
            shows(page, "50", "numbers")
            assert name.get_attribute("aria-pressed") == "false"


def test_without_a_stream_it_would_not_move(context, path):
    """The negative control: it is the stream that moves the page, not a reload."""
    store.write(some(range(10)), path)
    with serving(path) as server:
        context.route("**/events", lambda route: route.abort())
        page = opened(context, server, draws=False)
        store.write(some(range(10, 20)), path)
        shows(page, "Connection lost", "banner")
        page.wait_for_timeout(1500)
        assert page.text_content("#headline").strip() == ""


@pytest.mark.slow
def test_where_tabs_cannot_share_a_stream_they_ask(context, path):
    """On another machine and without encryption, browsers have no locks."""
    context.add_init_script("delete Navigator.prototype.locks")
    store.write(some(range(10)), path)
    with serving(path) as server:
        pages = [opened(context, server, draws=False) for _ in range(8)]
        store.write(some(range(10, 20)), path)
        for page in pages:
            shows(page, "20 trials")
            assert not any(url.endswith("/events") for url in page.heard.requests)
            assert_quiet(page)


def test_a_run_is_seen_from_before_its_beginning_to_after_its_end(context, path):
    def coin(params, data, rng):
        yield 0, {"accuracy": float(rng.random())}

    plan = Experiment(
        Task("coin", lambda rng: 0), [Algorithm(a, {}, coin) for a in "ab"], 160, seed=1
    )
    seen = []
    with serving(path) as server:
        page = opened(context, server)
        shows(page, "waiting for runs.db to appear")

        def look(trials):
            if len(trials) in (40, 160):
                shows(page, f"{len(trials)} of 320 trials")
                seen.append(page.get_attribute("#bar", "aria-valuenow"))
            return False

        cw.run(plan, store=path, until=look, executor="serial", progress=False)
        assert seen == ["12", "50"]
        shows(page, "ended", "state-words")
        shows(page, "nothing", "left")
        shows(page, "320 of 320 trials, ended", "spoken")
        assert page.get_attribute("body", "data-state") == "ended"
        page.click("#cells-details summary")
        assert "160" in page.text_content("#cells tbody")
        # And it goes on listening.
        cw.run(
            Experiment(plan.tasks, plan.algorithms, 170, seed=1),
            store=path,
            executor="serial",
            progress=False,
        )
        shows(page, "340 of 340 trials")
        assert_quiet(page)


@pytest.mark.slow
def test_a_server_that_is_killed_and_started_again(context, path):
    """The page says so, and goes on by itself."""
    store.write(some(range(10)), path)
    with serving(path) as server:
        page, other = (opened(context, server, draws=d) for d in (True, False))
        shows(other, "10 trials")
        shows(page, "10", "numbers")
        server.stop(signal.SIGKILL)
        for one in (page, other):
            shows(one, "Connection lost", "banner")
            assert one.is_visible("#banner")
            assert (
                one.text_content("#headline") == "10 trials"
            )  # what was known is kept
        store.write(some(range(10, 30)), path)
        with serving(path, port=server.port):
            for one in (page, other):
                shows(one, "30 trials", timeout=20_000)
                shows(one, "30", "numbers")
                assert one.is_hidden("#banner")
                assert_quiet(one, but=(NETWORK,))


# --- what others have written ------------------------------------------------------------

HOSTILE = [
    "<script>window.pwned = 1</script>",
    '"><img src=x onerror="window.pwned = 1">',
    "\u202eright to left\u202c גבא",
    "😀 \u0000 ' \" & </table> {{ 7 * 7 }} ${7}",
    "x" * 10_000,
]


@pytest.mark.slow
def test_nothing_of_others_is_run(context, path):
    trials = [
        *(t for name in HOSTILE for t in some(range(5), name, name)),
        *(t for name in HOSTILE for t in some(range(5), name)),
        *(
            t
            for i, name in enumerate(HOSTILE)
            for t in some([50 + i], name, status="failed", error=f"{name}\nmore")
        ),
    ]
    store.write(Trials(trials), path)
    with serving(path, "--metric", "accuracy") as server:
        page = opened(context, server)
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        shows(page, "trials")
        page.wait_for_selector("#chart .scatterlayer")
        assert page.locator("#mishaps .message").all_text_contents()[0] in HOSTILE
        for name in HOSTILE:
            page.select_option("#task", value=name)
            page.wait_for_function(
                "name => document.getElementById('scores-heading').textContent === "
                "'Scores on ' + name",
                arg=name,
            )
            assert name in page.text_content("#numbers tbody")
        page.click("#tasks-details summary")
        page.locator("#tasks button", has_text="onerror").click()
        assert page.evaluate("window.pwned") is None
        assert page.locator("main script, main img, main iframe").count() == 0
        page.set_viewport_size({"width": 360, "height": 700})
        page.wait_for_timeout(300)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        assert_quiet(page)
        # The task is in the address: a reload, or a friend, sees the same.
        fragment = page.url.partition("#")[2]
        again = opened(context, server, f"#{fragment}")
        shows(again, "onerror", "scores-heading")
        # The negative control, and the second wall: the policy of the page itself.
        again.evaluate(
            "document.getElementById('notes').innerHTML = "
            "'<img src=x onerror=\"window.pwned = 1\">'"
        )
        again.wait_for_timeout(200)
        assert again.evaluate("window.pwned") is None
        assert any("Content Security Policy" in c for c in again.heard.complaints)
