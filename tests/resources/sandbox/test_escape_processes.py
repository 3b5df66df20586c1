"""Processes, rights, network, kernel interfaces: what a run must not start, gain or reach."""

from __future__ import annotations

import os
import platform
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="the probes name system calls by their x86_64 numbers"
    ),
]

LIVE = {
    "environment": "return [v for v in os.environ.values() if canary in v]",
    "environment's names": "return sorted(set(os.environ) - {'PATH', 'HOME', 'LANG', 'TMPDIR', 'PYTHONHASHSEED', 'LC_CTYPE'})",
    "environment of libc": """
        array = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
        found, at = [], 0
        while array[at] is not None:
            found.append(array[at].decode("utf-8", "replace"))
            at += 1
        return [text for text in found if canary in text]
    """,
    "name of the host": "import platform; return platform.node() == host",
    "root": "return os.getuid() == 0 or os.geteuid() == 0",
    "root's group": "return 0 in (os.getgid(), os.getegid(), *os.getgroups())",
    "capabilities": """
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        data = (ctypes.c_uint32 * 6)()
        libc.capget(header, data)
        return any(data)
    """,
    "paths of the host": "return [p for p in (*sys.path, sys.executable, os.__file__, sys.prefix) if '/root' in p or '/home' in p or 'pyenv' in p]",
    "parent": "return os.getppid()",
    "TCP": "import socket; return socket.create_connection(('127.0.0.1', port), 2).fileno()",
    "TCP over IPv6": "import socket; return socket.socket(socket.AF_INET6).fileno()",
    "UDP": "import socket; return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).fileno()",
    "Unix socket": "import socket; return socket.socket(socket.AF_UNIX).fileno()",
    "raw socket": "import socket; return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno()",
    "packet socket": "import socket; return socket.socket(socket.AF_PACKET, socket.SOCK_RAW).fileno()",
    "netlink": "import socket; return socket.socket(16, socket.SOCK_RAW).fileno()",
    "VM socket": "return call(41, 40, 1, 0)",
    "crypto socket": "return call(41, 38, 5, 0)",
    "server": "import socket; return socket.create_server(('127.0.0.1', 0)).fileno()",
    "names": "import socket; return socket.getaddrinfo('localhost', 80)",
    "web": """
        import http.server, threading, urllib.request
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
        return urllib.request.Request(f"http://127.0.0.1:{server.server_port}").full_url
    """,
    "datagram pair": "import socket; return socket.socketpair(type=socket.SOCK_DGRAM)[0].fileno()",
    "pair of another family": "return call(53, 30, 1, 0, (ctypes.c_int * 2)())",
    "connect a pair": "import socket; a, b = socket.socketpair(); return call(42, a.fileno(), 0, 0)",
    "socket options": "import socket; a, b = socket.socketpair(); a.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1); return True",
    "fork": "pid = os.fork(); os._exit(0) if pid == 0 else os.waitpid(pid, 0); return pid",
    "shell": "return os.system('true') == 0",
    "subprocess": "import subprocess; return subprocess.run(['/bin/true']).returncode == 0",
    "own interpreter": "import subprocess; return subprocess.run([sys.executable, '-c', '']).returncode == 0",
    "spawn": "return os.posix_spawn('/bin/true', ['true'], {})",
    "multiprocessing": """
        import multiprocessing
        process = multiprocessing.get_context("fork").Process(target=print)
        process.start(); process.join(); return process.exitcode == 0
    """,
    "execute": "return call(59, b'/nowhere', 0, 0)",
    "execute by descriptor": "return call(322, -1, b'', 0, 0, 0x1000)",
    "clone3": "return call(435, 0, 0)",
    "vfork through popen": "import os as o; return bool(o.popen('echo x').read())",
    "signal to the host's process": "os.kill(pid, 0); return True",
    "signal to process 1": "os.kill(1, 0); return True",
    "signal to a thread of others": "return call(234, pid, pid, 0)",
    "signal by thread id": "return call(200, 1, 0)",
    "queued signal": "return call(129, 1, 0, 0)",
    "memory of others": "return call(310, pid, 0, 0, 0, 0, 0)",
    "write memory of others": "return call(311, pid, 0, 0, 0, 0, 0)",
    "process handle": "return call(434, pid, 0)",
    "descriptor of others": "return call(438, -1, 0, 0)",
    "new user namespace": "return libc.unshare(0x10000000) == 0",
    "new mount namespace": "return libc.unshare(0x00020000) == 0",
    "join a namespace": "return call(308, -1, 0)",
    "become root": "os.setuid(0); return os.getuid() == 0",
    "become root, all ids": "return call(117, 0, 0, 0)",
    "groups": "os.setgroups([0]); return True",
    "set capabilities": "return call(126, 0, 0)",
    "dumpable again": "return call(157, 4, 1, 0, 0, 0)",
    "signal at parent's death": "return call(157, 1, 9, 0, 0, 0)",
    "keep capabilities": "return call(157, 8, 1, 0, 0, 0)",
    "own filter": "return call(317, 1, 0, 0)",
    "BPF": "return call(321, 0, 0, 0)",
    "performance events": "return call(298, 0, 0, -1, -1, 0)",
    "page faults": "return call(323, 0)",
    "io_uring": "return call(425, 1, 0)",
    "old async I/O": "return call(206, 1, 0)",
    "key ring": "return call(250, 0, -1, 0, 0, 0)",
    "add a key": "return call(248, 0, 0, 0, 0, -1)",
    "anonymous file": "return call(319, b'x', 0)",
    "secret memory": "return call(447, 0)",
    "System V memory": "return call(29, 0, 4096, 0o1600)",
    "System V semaphores": "return call(64, 0, 1, 0o1600)",
    "System V queue": "return call(68, 0, 0o1600)",
    "POSIX queue": "return call(240, b'x', 0, 0, 0)",
    "personality": "return call(135, 0xffffffff)",
    "clock": "return call(227, 0, 0)",
    "tune the clock": "return call(159, 0)",
    "host name": "return call(170, 0, 0)",
    "restart": "return call(169, 0, 0, 0, 0)",
    "swap": "return call(167, 0, 0)",
    "accounting": "return call(163, b'/nowhere')",
    "kernel log": "return call(103, 10, 0, 0)",
    "priority": "os.nice(-20); return True",
    "processor": "os.sched_setaffinity(0, {0}); return True",
    "real time": "return call(144, 0, 1, 0)",
    "lock memory": "return call(149, 0, 0)",
    "protection keys": "return call(330, 0, 0)",
    "move pages": "return call(279, 0, 0, 0, 0, 0, 0)",
    "memory policy": "return call(238, 0, 0, 0)",
    "splice": "return call(275, -1, 0, -1, 0, 0, 0)",
    "landlock": "return call(444, 0, 0, 1)",
    "more descriptors": "import resource; return resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 64",
    "core dumps": "import resource; return resource.getrlimit(resource.RLIMIT_CORE)[1]",
    "terminal input": "return call(16, 0, 0x5412, b'x')",
    "x32 call": "return call(0x40000000 + 39) != [39, 0] and call(39)[0] != 1",
}

RISKY = {
    "trace": "return call(101, 16, 1, 0, 0)",
    "compare processes": "return call(312, 1, 1, 0, 0, 0)",
    "module": "return call(175, 0, 0, 0)",
    "another kernel": "return call(246, 0, 100, 0, 0)",
    "port access": "return call(172, 0, 0)",
    "cookie": "return call(212, 0, 0, 0)",
    "more memory than allowed": """
        import resource
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
            try:
                resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                return kind
            except (OSError, ValueError):
                pass
    """,
    "raise a soft limit past the hard one": "return call(302, 0, 9, (ctypes.c_uint64 * 2)(1 << 40, 1 << 40), 0)",
    "signal to all": "os.kill(-1, 9); return True",
    "clone a process": "return call(56, 17, 0, 0, 0, 0)",
    "clone with a user namespace": "return call(56, 0x10010000, 0, 0, 0, 0)",
    "32-bit call": """
        import mmap
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")  # getpid through int 0x80
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))() or True
    """,
    "subclass walk to a shell": """
        for kind in ().__class__.__base__.__subclasses__():
            if kind.__name__ == "_wrap_close":
                return kind.__init__.__globals__["system"]("true") == 0
        return False
    """,
    "frame walk to the zygote": """
        import socket
        frame, found = sys._getframe(), []
        while frame is not None:
            for value in frame.f_locals.values():
                for item in (value, *vars(value).values()) if hasattr(value, "__dict__") else (value,):
                    if isinstance(item, socket.socket) and item.fileno() not in (-1, 3):
                        found.append(repr(item))
            frame = frame.f_back
        return found
    """,
    "sockets in memory": """
        import gc, socket
        return [repr(o) for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() not in (-1, 3)]
    """,
    "zygote's own code": """
        from interlace.resources.sandbox.inside import confine
        confine.enter_namespaces()
        return True
    """,
    "zygote's command line": "return canary in ' '.join(sys.orig_argv) or project in ' '.join(sys.orig_argv)",
    "become the launcher's user": "os.setresuid(65533, 65533, 65533); return True",
}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", [*LIVE, *RISKY])
async def test_contained(name: str, attack: Callable[..., Awaitable[str]]) -> None:
    await attack((LIVE | RISKY)[name])


@pytest.mark.skipif(os.getuid() != 0, reason="some probes need root outside, to show that they work")
@pytest.mark.parametrize("name", LIVE)
def test_probe_works_without_sandbox(name: str, plain: Callable[[str], Any]) -> None:
    assert plain(LIVE[name])
