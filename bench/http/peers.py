"""The servers that bench/http compares: each answers the same few bytes on one port, with one worker on one CPU."""

import os
import pathlib
import shutil
import socket
import subprocess
import time

BODY = "hello, world\n"
SERVER_CPU, LOAD_CPU, BOTH = "0", "1", "0,1"
START_SECONDS = 10
PACKAGES = {"nginx": "nginx-light", "haproxy": "haproxy", "h2o": "h2o", "lighttpd": "lighttpd", "go": "golang-go",
            "beast": "libboost-dev"}


class Missing(Exception):
    """A peer that this machine does not have."""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def program(name):
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise Missing(f"{name}: apt-get install {PACKAGES.get(name, name)}")
    return found


class Peer:
    """A running server on some processors."""

    def __init__(self, name, command, port, cpus=SERVER_CPU):
        self.name, self.port = name, port
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "taskset", "-c", cpus, *command],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.pid = self.process.pid
        self.await_port()

    def await_port(self):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise Missing(f"{self.name} ended with {self.process.returncode}: "
                              f"{self.process.stderr.read().decode(errors='replace').strip()[-400:]}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.end()
        raise Missing(f"{self.name} did not listen within {START_SECONDS} s")

    def answer(self):
        """What it answers to one request, as bytes."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as one:
            one.sendall(b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n")
            data = b""
            while BODY.encode() not in data:
                piece = one.recv(65536)
                if not piece:
                    break
                data += piece
        return data

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def start_flare(binaries, handler, workers=1, deferred=False):
    port = free_port()
    command = [str(binaries / "flare-serve"), "--address", f"127.0.0.1:{port}", "--workers", str(workers), "--no-pin", "--handoff",
               "off", "--drain-timeout-ms", "100", "--backlog", "4096", "--handler", handler]
    if deferred:
        command += ["--defer-accept", "1"]
    return Peer(f"flare-{handler}", command, port, SERVER_CPU if workers == 1 else BOTH)


def start_bare(binaries, work, answer, deferred=False):
    """answer: the bytes that flare sends, so that both send the same."""
    port, file = free_port(), pathlib.Path(work) / "answer"
    file.write_bytes(answer)
    return Peer("bare", [str(binaries / "bare"), str(port), str(file), *(["deferred"] if deferred else [])], port)


def start_nginx(work, deferred=False, name="nginx", workers=1):
    port, folder = free_port(), pathlib.Path(work) / name
    folder.mkdir(exist_ok=True)
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "conf").write_text(
        f"worker_processes {workers}; daemon off; pid {folder}/pid; error_log {folder}/error;\n"
        "events { worker_connections 16384; }\n"
        f"http {{ access_log off; keepalive_requests 1000000000; default_type text/plain; {temporary}\n"
        f"server {{ listen 127.0.0.1:{port} reuseport{' deferred' if deferred else ''} backlog=4096;\n"
        f'location / {{ return 200 "{BODY.strip()}\\n"; }} }} }}\n')
    return Peer(name, [program("nginx"), "-c", str(folder / "conf")], port, SERVER_CPU if workers == 1 else BOTH)


def start_haproxy(work):
    port, file = free_port(), pathlib.Path(work) / "haproxy.cfg"
    file.write_text(f"""global
  nbthread 1
  maxconn 9900
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
frontend all
  bind 127.0.0.1:{port}
  http-request return status 200 content-type text/plain string "{BODY.strip()}\\n"
""")
    return Peer("haproxy", [program("haproxy"), "-f", str(file)], port)


def start_lighttpd(work):
    port, folder = free_port(), pathlib.Path(work) / "lighttpd"
    folder.mkdir(exist_ok=True)
    (folder / "index.txt").write_text(BODY)
    (folder / "conf").write_text(
        f'server.document-root = "{folder}"\nserver.port = {port}\nserver.bind = "127.0.0.1"\n'
        'index-file.names = ("index.txt")\nserver.max-keep-alive-requests = 1000000000\n'
        'server.max-connections = 16384\nserver.max-fds = 20000\nmimetype.assign = (".txt" => "text/plain")\n')
    return Peer("lighttpd", [program("lighttpd"), "-D", "-f", str(folder / "conf")], port)


def start_h2o(work):
    port, folder = free_port(), pathlib.Path(work) / "h2o"
    folder.mkdir(exist_ok=True)
    (folder / "index.txt").write_text(BODY)
    user = "user: root\n" if os.geteuid() == 0 else ""
    (folder / "conf").write_text(
        f"{user}num-threads: 1\nmax-connections: 16384\nlisten:\n  host: 127.0.0.1\n  port: {port}\n"
        f'hosts:\n  default:\n    paths:\n      "/":\n        file.dir: {folder}\n        file.index: [index.txt]\n')
    return Peer("h2o", [program("h2o"), "-c", str(folder / "conf")], port)


def start_go(binaries):
    port = free_port()
    return Peer("go", ["env", "GOMAXPROCS=1", str(binaries / "go_server"), str(port)], port)


def start_beast(binaries):
    port = free_port()
    return Peer("beast", [str(binaries / "beast"), str(port)], port)
