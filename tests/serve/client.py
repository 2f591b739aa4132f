"""Starts `ordernet serve` and sends it requests; used by the server's tests, soak test and benchmark."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.abspath(os.environ.get("ORDERNET", os.path.join(ROOT, "ordernet")))
SORT = os.path.join(ROOT, "tests/cli/sort.safetensors")


def command(*arguments, stdin=None):
    """Runs the program; returns what it prints, and its status."""
    done = subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, text=True, cwd=ROOT)
    return done.stdout, done.stderr, done.returncode


class Server:
    def __init__(self, *options, before=()):
        self.process = subprocess.Popen([*before, PROGRAM, "serve", "--port", "0", *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=ROOT)
        line = self.process.stdout.readline()
        found = re.search(r":(\d+)/$", line.strip())
        if not found:
            error = RuntimeError("no server: " + line + self.process.stderr.read())
            error.status = self.process.wait()
            raise error
        self.port = int(found.group(1))

    def connect(self, timeout=300):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """Sends one request; returns status, headers and body. A body that is not bytes is sent as JSON."""
        own = connection or self.connect()
        headers = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        own.request(method, path, body, headers)
        answer = own.getresponse()
        data = answer.read()
        result = answer.status, dict(answer.getheaders()), data
        # Messages for HTTP clients name neither options of the program nor fields of C structs.
        assert answer.status < 400 or not re.search(rb"(^|[ '(`\"])--[a-z]|onet_", data), data
        if not connection:
            own.close()
        return result

    def post(self, path, body, connection=None, headers=None):
        status, _, data = self.ask("POST", path, body, headers, connection)
        return status, exact(data)

    def metrics(self):
        """Returns the values by name with labels."""
        lines = self.ask("GET", "/metrics")[2].decode().splitlines()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line[0] != "#"}

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        """Ends the server; returns its exit status and its standard error."""
        if self.process.poll() is None:
            self.send(number)
        try:
            _, said = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, said


def exact(data):
    """JSON with numbers as they are written: equal texts are equal bits."""
    return json.loads(data, parse_float=str, parse_int=str)
