"""The live view as users start it, and the ways to ask it something."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.parse import quote, urlsplit


class Server:
    """``curvewise watch`` in a process of its own, at an address of its own."""

    def __init__(self, store, *options, port=0, wait=True):
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "curvewise", "watch", str(store)),
                *("--port", str(port), *options),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "error"},
        )
        if wait:
            line = self.process.stdout.readline()
            if not line.startswith("http://"):
                raise RuntimeError(line + self.process.communicate()[1])
            self.url = line.split()[0]
            self.port = urlsplit(self.url).port

    def stop(self, how=signal.SIGINT):
        """End it, and return its status, what it said on standard error, and how long
        that took."""
        begin = time.monotonic()
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said, time.monotonic() - begin

    def ask(self, path="/", method="GET", **headers):
        """Return the answer to a request, read to its end."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        with contextlib.closing(connection):
            own = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=own)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())

    def say(self, text):
        """Return what comes back to some bytes, as they are."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as plug:
            plug.sendall(text.encode("latin-1"))
            return plug.makefile("rb").read().decode("latin-1")

    def moment(self):
        return self.ask("/moment").json()

    def task(self, name):
        return self.ask(f"/now?task={quote(name)}").json()

    def until(self, true, seconds=15.0):
        """Return the first moment for which something is true."""
        end = time.monotonic() + seconds
        while not true(moment := self.moment()):
            assert time.monotonic() < end, moment
            time.sleep(0.05)
        return moment


class Answer:
    """A status, headers by lower-case name, and a body."""

    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers.items()}

    def json(self):
        return json.loads(self.body)


class Listener:
    """Somebody who listens to the events of a server."""

    def __init__(self, server):
        self._connection = http.client.HTTPConnection(
            "127.0.0.1", server.port, timeout=15
        )
        self._connection.request("GET", "/events")
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        assert self._answer.getheader("content-type").startswith("text/event-stream")

    def events(self) -> Iterator[dict]:
        """Yield one moment after another."""
        for line in self._answer:
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))

    def close(self):
        self._answer.close()
        self._connection.close()


@contextlib.contextmanager
def serving(store, *options, **settings):
    """Yield a server, and end it whatever happens."""
    server = Server(store, *options, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()
