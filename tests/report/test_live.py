"""The live view over HTTP: what it answers, to whom, and to how many."""

import asyncio
import gzip
import re
import signal
import socket
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from live import Listener, serving
from postgres import new_url

from curvewise import CurvewiseError, Trial, Trials, store
from curvewise.cli import main
from curvewise.flow.watch import Watcher
from curvewise.report.live import pages
from curvewise.report.live import pages as live_pages
from curvewise.report.live import server as module
from curvewise.report.live.pages import Lookout, as_json
from curvewise.report.live.server import LOOPBACK, Hosts, bound, hosts_of

HOSTILE = '<script>alert("1")</script> & \u202eגבא'


def some(numbers, algorithm="svm", task="moons", **fields):
    return Trials(
        Trial(task, algorithm, n, {"accuracy": n % 10 / 10}, **fields) for n in numbers
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server that the tests of this file may ask whatever they like."""
    path = tmp_path_factory.mktemp("secret folder") / "runs.db"
    store.write(some(range(50)), path)
    store.write(some(range(50), HOSTILE), path)
    bad = some(range(50, 53), status="failed", error=f"ValueError: {HOSTILE}\nmore")
    store.write(bad, path)
    store.write(some(range(5), task=HOSTILE), path)
    with serving(path) as running:
        running.path = path
        yield running


# --- what is there -----------------------------------------------------------------------


def test_the_page_and_what_belongs_to_it(server):
    page = server.ask("/")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    text = page.body.decode()
    assert "{" not in text  # no place was left unfilled
    for name in re.findall(r'(?:src|href)="([^":]+)"', text):
        assert server.ask(f"/{name}").status == 200, name
    assert server.ask("/nonsense").status == 404
    assert server.ask("/../pyproject.toml").status == 404


def test_how_far_it_is(server):
    moment = server.moment()
    assert (moment["store"], moment["done"], moment["failed"]) == ("runs.db", 108, 3)
    assert moment["words"]["headline"] == "108 trials"
    assert moment["errors"][0]["message"] == f"ValueError: {HOSTILE}"
    assert [task["name"] for task in moment["tasks"]] == ["moons", HOSTILE]


def test_one_task_with_its_chart_and_its_numbers(server):
    page = server.task("moons")
    assert [row[0] for row in page["numbers"]["rows"]] == ["svm", HOSTILE]
    lines = [trace for trace in page["figure"]["data"] if trace.get("fill") is None]
    assert len(lines) == 2
    assert page["figure"]["layout"]["showlegend"]
    cells = [dict(zip(page["cells"]["columns"], row, strict=True)) for row in
             page["cells"]["rows"]]  # fmt: skip
    assert (cells[0]["done"], cells[0]["failed"], cells[0]["ok"]) == ("53", "3", "50")
    assert page["notes"][0] == "3 failed trials counted as 0."
    assert server.ask(f"/now?task=moons&have={page['have']}").status == 204
    unknown = server.ask("/now?task=moon")
    assert unknown.status == 404
    assert "Did you mean 'moons'" in unknown.json()["problem"]
    assert server.ask("/now").status == 404


def test_nothing_is_told_of_where_the_store_is(server):
    for path in ("/", "/moment", "/now?task=moons", "/now?task=x"):
        assert b"secret folder" not in server.ask(path).body


def test_names_are_escaped_in_every_answer(server):
    for path in ("/moment", "/now?task=moons", "/now?task=%3Cscript%3E"):
        answer = server.ask(path)
        assert answer.headers["content-type"] == "application/json"
        assert not re.search(rb"[<>&\x80-\xff]", answer.body)
    assert as_json({"a": "</script>"}) == r'{"a": "\u003c/script\u003e"}'
    with pytest.raises(ValueError, match="Out of range"):
        as_json(float("nan"))


def test_the_script_that_draws_is_kept_by_browsers(server):
    plain = server.ask("/plotly.js?v=1")
    small = server.ask("/plotly.js?v=1", accept_encoding="br, gzip")
    assert "immutable" in plain.headers["cache-control"]
    assert gzip.decompress(small.body) == plain.body
    assert len(small.body) < len(plain.body) / 2
    assert "no-store" in server.ask("/").headers["cache-control"]


# --- who may ask -------------------------------------------------------------------------

PATHS = ("/", "/live.js", "/live.css", "/plotly.js", "/moment", "/now", "/events")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "localhost.evil.example:{port}",
        "evil.example@127.0.0.1:{port}",
        "127.0.0.1:{port}@evil.example",
        "127.0.0.1:{port}:80",
        "127.0.0.1:",
        "127.0.0.1:99999",
        "127.0.0.1:0",
        "127.0.0.1:port",
        "127.0.0.2:{port}",
        "10.0.0.1:{port}",
        "[::1",
        "[::2]:{port}",
        "::1",
        "localhost.:{port}",
        "",
        " ",
    ],
)
def test_another_name_is_refused(server, host):
    """Somebody has made a name of theirs lead to this machine (DNS rebinding)."""
    named = host.format(port=server.port)
    said = server.say(
        f"GET /moment HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n\r\n"
    )
    assert said.startswith("HTTP/1.1 400")
    assert "accuracy" not in said
    assert "runs.db" not in said
    for path in PATHS:
        assert server.ask(path, host=named).status == 400


def test_no_name_and_two_names_are_refused(server):
    assert server.say("GET /moment HTTP/1.0\r\n\r\n").startswith("HTTP/1.1 400")
    two = "Host: 127.0.0.1\r\nHost: evil.example\r\n"
    said = server.say(f"GET /moment HTTP/1.1\r\n{two}Connection: close\r\n\r\n")
    assert said.startswith("HTTP/1.1 400")


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1:{port}", "localhost:{port}", "LocalHost:{port}", "[::1]:{port}"),
        *("localhost", "localhost:9000"),  # through a tunnel, the port is another one
    ],
)
def test_this_machine_by_any_of_its_names(server, host):
    named = host.format(port=server.port)
    assert server.ask("/moment", host=named).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},  # another port of this machine
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "https://127.0.0.1:{port}"},
        {"origin": "http://localhost:{port}"},  # asked for as 127.0.0.1
    ],
)
def test_pages_of_others_get_nothing(server, headers):
    own = {name: text.format(port=server.port) for name, text in headers.items()}
    for path in ("/moment", "/now?task=moons", "/events"):
        assert server.ask(path, **own).status == 403
    if "sec_fetch_site" in own:  # a link to the page is no harm
        assert server.ask("/", **own).status == 200


def test_the_page_itself_may_ask(server):
    """The control: the same headers, as a browser sends them from here."""
    origin = f"http://127.0.0.1:{server.port}"
    assert server.ask("/moment", sec_fetch_site="same-origin").status == 200
    assert server.ask("/moment", sec_fetch_site="none").status == 200
    assert server.ask("/moment", origin=origin).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "X"])
def test_it_can_only_be_read(server, method):
    for path in (*PATHS, "/nonsense"):
        answer = server.ask(path, method)
        assert answer.status == 405
        assert answer.headers["allow"] == "GET, HEAD"


def test_head_is_answered_and_ends(server):
    for path in PATHS:
        answer = server.ask(path, "HEAD")
        assert answer.status == (404 if path == "/now" else 200)
        assert answer.body == b""


def test_every_answer_has_its_guards(server):
    answers = [server.ask(path) for path in PATHS if path != "/events"]
    answers += [
        server.ask("/", host="evil.example"),
        server.ask("/", "POST"),
        server.ask("/moment", origin="null"),
        server.ask("/nonsense"),
        server.ask("/events", "HEAD"),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; ")
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not any("access-control" in name for name in answer.headers)
        assert "server" not in answer.headers


def test_which_names_lead_to_an_address():
    assert hosts_of("127.0.0.1") == Hosts(LOOPBACK)
    assert hosts_of("::1") == Hosts(LOOPBACK)
    named = hosts_of("Box.lab")
    assert named.allows("box.lab:8765")
    assert not named.allows("10.1.2.3:8765")
    everywhere = hosts_of("0.0.0.0")
    assert everywhere.allows("10.1.2.3:8765")
    assert everywhere.allows("[fe80::1]:8765")
    assert everywhere.allows(socket.gethostname())
    assert not everywhere.allows("evil.example:8765")  # addresses only


# --- events ------------------------------------------------------------------------------


def test_events_move_while_trials_arrive_and_end_with_the_server(tmp_path):
    """From a store that is not there yet to Ctrl-C while somebody listens."""
    path = tmp_path / "runs.db"
    with serving(path) as server:
        listeners = [Listener(server) for _ in range(3)]
        events = listeners[0].events()
        first = next(events)
        assert (first["state"], first["done"]) == ("waiting", 0)
        assert first["words"]["headline"] == "waiting for runs.db to appear"
        seen = []
        with store.open(path) as s:
            for i in range(3):
                s.write(some(range(10 * i, 10 * i + 10)))
                seen.append(next(e for e in events if e["done"] == 10 * i + 10))
        assert seen[-1]["rate"] > 0
        assert {event["boot"] for event in seen} == {first["boot"]}
        status, said, took = server.stop()
        assert (status, took < 3) == (130, True)
        assert said == (
            f"curvewise: waiting for {path} to appear.\ncurvewise: stopped by Ctrl-C.\n"
        )
        assert list(listeners[1].events())  # to its end, and not torn off
        for listener in listeners:
            listener.close()


@pytest.mark.service
def test_it_works_beside_a_writer_in_postgresql():
    url = new_url()
    store.write(some(range(5)), url)
    with serving(url) as server:
        assert server.moment()["done"] == 5
        assert "schema=" in server.moment()["store"]
        store.write(some(range(5, 9)), url)
        server.until(lambda moment: moment["done"] == 9)
        assert server.task("moons")["numbers"]["rows"][0][1] == "9"


@pytest.mark.slow
def test_a_hundred_listen_and_one_does_not_and_a_new_server_takes_over(tmp_path):
    path = tmp_path / "runs.db"
    store.write(some(range(10)), path)
    with serving(path) as server:
        deaf = socket.create_connection(("127.0.0.1", server.port))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        host = f"127.0.0.1:{server.port}"
        deaf.sendall(f"GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        listeners = [Listener(server) for _ in range(100)]
        heard = []

        def hear(listener):
            heard.append(next(e for e in listener.events() if e["done"] == 20))

        threads = [threading.Thread(target=hear, args=(one,)) for one in listeners]
        for thread in threads:
            thread.start()
        store.write(some(range(10, 20)), path)
        for thread in threads:
            thread.join(15)
        assert len(heard) == 100
        assert server.moment()["done"] == 20
        server.stop(signal.SIGKILL)
        with serving(path, port=server.port) as again:  # at once, on the same port
            assert again.moment()["boot"] != heard[0]["boot"]
        for listener in (*listeners, deaf):
            listener.close()


def test_whoever_is_slow_hears_the_latest_and_not_all_of_it(tmp_path):
    """Nothing is queued: what was missed is never sent."""
    path = tmp_path / "runs.db"
    store.write(some(range(3)), path)
    watcher = Watcher(str(path))

    async def slow():
        lookout = Lookout(watcher)
        seen = await lookout.after(0)
        for _ in range(5):
            lookout._post(watcher.look())
        assert await lookout.after(seen) == seen + 5
        waiting = asyncio.create_task(lookout.after(seen + 5))
        await asyncio.sleep(0)
        assert not waiting.done()
        lookout._post(watcher.look())
        assert await waiting == seen + 6

    asyncio.run(slow())


def test_nobody_watches_and_it_looks_less_often(tmp_path):
    path = tmp_path / "runs.db"
    store.write(some(range(3)), path)

    class Counting(Watcher):
        looks = 0

        def look(self):
            self.looks += 1
            return super().look()

        def pause(self):
            return 0.01

    async def looks(*, is_watched):
        watcher = Counting(str(path))
        lookout = Lookout(watcher)
        if is_watched:
            lookout.come()
        lookout.start()
        for _ in range(500):
            await asyncio.sleep(0.01)
            if watcher.looks == (5 if is_watched else 1):
                break
        await asyncio.sleep(0.2)
        lookout.stop()
        return watcher.looks

    assert asyncio.run(looks(is_watched=False)) <= 2
    assert asyncio.run(looks(is_watched=True)) > 5


def test_a_mistake_of_ours_is_told_and_looking_goes_on(tmp_path, capsys):
    class Broken(Watcher):
        def look(self):
            raise TypeError("inside")

    lookout = Lookout(Broken(str(tmp_path / "runs.db")))
    assert lookout._looked().trouble == "The store could not be looked at: TypeError."
    assert "TypeError: inside" in capsys.readouterr().err


def test_a_picture_is_made_once_for_all_who_ask(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    store.write(some(range(30)), path)
    watcher = Watcher(str(path))
    watcher.look()
    made = []
    usual = watcher.view
    monkeypatch.setattr(watcher, "view", lambda task: made.append(task) or usual(task))
    pages = live_pages.Pages(watcher)
    found = [pages.page("moons") for _ in range(10)]
    assert made == ["moons"]
    store.write(some(range(30, 40)), path)
    watcher.look()
    assert pages.page("moons")["version"] == found[0]["version"]
    assert pages.page("moons")["again"] > 0  # a second has not passed
    monkeypatch.setattr(live_pages.time, "monotonic", lambda: 1e9)
    assert pages.page("moons")["version"] > found[0]["version"]


def test_only_some_tasks_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr(live_pages, "_MOST", 2)
    path = tmp_path / "runs.db"
    for task in "abc":
        store.write(some(range(3), task=task), path)
    watcher = Watcher(str(path))
    watcher.look()
    pages = live_pages.Pages(watcher)
    for task in "abca":
        assert pages.page(task)["task"] == task
    assert list(pages._known) == ["c", "a"]


def test_fifty_algorithms_and_thirty_tasks_stay_light(tmp_path):
    """All tasks in a word each, and one task at a time with its chart."""
    path = tmp_path / "runs.db"
    trials = (
        Trial(f"task {t}", f"algorithm {a}", n, {"accuracy": n / 10})
        for t in range(30)
        for a in range(50)
        for n in range(3)
    )
    store.write(Trials(trials), path)
    watcher = Watcher(str(path))
    assert len(as_json(watcher.look().to_dict())) < 10_000
    assert len(as_json(pages.Pages(watcher).page("task 7"))) < 1_000_000


# --- the command -------------------------------------------------------------------------


def watch(*arguments):
    return CliRunner().invoke(main, ["watch", *map(str, arguments)])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--metric", "acuracy"],
            "There is no metric 'acuracy'. Did you mean 'accuracy'",
        ),
        (["--at", "first"], "at is 'first'"),
        (["--failed", "raise"], "failed is 'raise'"),
        (["--until", "median"], "it begins with 'median'"),
        (["--host", "203.0.113.7"], "Nothing can be served on 203.0.113.7"),
    ],
)
def test_what_cannot_be_watched_is_refused(tmp_path, options, words):
    path = tmp_path / "runs.db"
    store.write(some(range(3)), path)
    found = watch(path, *options)
    assert found.exit_code == 1
    assert words in found.output


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert "is no store" in watch(tmp_path / "a.csv").output
    assert "is a folder" in watch(tmp_path).output
    assert "There is no folder" in watch(tmp_path / "no" / "runs.db").output
    for wrong in ("mysql://host/runs", "postgresql://127.0.0.1:1/nothing"):
        assert watch(wrong).exit_code == 1


def test_a_port_that_is_taken(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CurvewiseError, match=rf"port {port} \(.*in use.*--port 0"):
            bound("127.0.0.1", port)
        monkeypatch.setattr(module, "PORT", port)
        with bound("127.0.0.1", None) as other:
            assert port < other.getsockname()[1] < port + 20


def test_others_may_read_only_after_a_warning(tmp_path):
    path = tmp_path / "runs.db"
    store.write(some(range(3)), path)
    with serving(path, "--host", "0.0.0.0") as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.ask("/moment", host="192.0.2.1:80").status == 200
        assert server.ask("/moment", host="evil.example").status == 400
        status, said, took = server.stop(signal.SIGTERM)
        assert "there is no password" in said
        assert (status, took < 3) == (-signal.SIGTERM, True)


def test_without_the_extra_it_says_which(tmp_path, monkeypatch):
    import importlib.util

    usual = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *a: None if name == "sse_starlette" else usual(name, *a),
    )
    found = watch(tmp_path / "runs.db")
    assert found.exit_code == 1
    assert "needs sse-starlette: pip install 'curvewise[live]'" in found.output


def test_it_opens_a_browser_only_if_asked(tmp_path, monkeypatch):
    import webbrowser

    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(module, "_run", lambda *a: None)
    path = tmp_path / "runs.db"
    store.write(some(range(3)), path)
    assert watch(path, "--port", 0).output.startswith("http://127.0.0.1:")
    assert opened == []
    said = watch(path, "--port", 0, "--open").output
    assert opened == [said.split()[0]]


@pytest.mark.slow
def test_watching_a_million_trials_slows_a_writer_by_less_than_15_percent(
    tmp_path, monkeypatch
):
    """The median of nine alternating runs, one tab open."""
    folder = Path(__file__).parents[2] / "benchmarks"
    if not folder.is_dir():
        pytest.skip("the benchmarks are not here")
    monkeypatch.syspath_prepend(str(folder))
    import store_read
    import watch

    store_read.make(tmp_path / "model.db", watch.MANY)
    found = watch.slowdown(tmp_path / "model.db", rounds=9, batches=600)
    print(found)
    assert found["ratio"] < 1.15
    assert found["seen"] < 30  # seconds until the page shows the last of them
    assert found["memory"] < 0.5  # GB
