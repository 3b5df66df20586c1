"""Files and devices: what a run must neither read nor write."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

# Harmless outside: the same probe must succeed in a plain interpreter, or it proves nothing.
LIVE = {
    "passwd": "return open('/etc/passwd').read()",
    "secret file": "return open(secret).read()",
    "secret file by descriptor": "return os.read(os.open(secret, os.O_RDONLY), 100).decode()",
    "project": "return os.listdir(project)",
    "project's import": "sys.path.insert(0, project + '/src'); import interlace.engine; return interlace.engine.__file__",
    "traversal": "return open('../' * 30 + 'etc/passwd').read()",
    "symbolic link": "os.symlink('/etc/passwd', 'link'); return open('link').read()",
    "link to the root": "os.symlink('/', 'root'); return os.path.exists('root/etc/passwd') or os.path.exists('root/bin/sh')",
    "homes": "return [f for d in ('/root', '/home') if os.path.isdir(d) for f in os.listdir(d)]",
    "site-packages": "import glob; return glob.glob(os.path.dirname(os.__file__) + '/site-packages/*')",
    "var": "return os.listdir('/var')",
    "shells": "return [p for p in ('/bin/sh', '/usr/bin/env', '/bin/bash', '/usr/bin/su') if os.path.exists(p)]",
    "the host's processes": "return [p for p in os.listdir('/proc') if p.isdigit()]",
    "own environment in proc": "return open('/proc/self/environ', 'rb').read().hex()",
    "root through proc": "return os.listdir('/proc/self/root/etc')",
    "memory through proc": "return open('/proc/self/mem', 'rb+').fileno()",
    "mounts": "return open('/proc/self/mountinfo').read()",
    "kernel settings": "return os.listdir('/proc/sys/kernel')",
    "kernel objects": "return os.listdir('/sys')",
    "devices": "return sorted(set(os.listdir('/dev')) - {'null', 'zero', 'full', 'random', 'urandom', 'shm'})",
    "terminals": "return os.path.exists('/dev/ptmx') or os.path.exists('/dev/tty')",
    "handles": "return call(304, -1, 0, 0)",
    "path handles": "return call(303, -100, b'/', 0, 0, 0)",
    "watching files": "return call(294, 0)",
    "new mount calls": "return [call(428, -100, b'/', 0), call(430, b'tmpfs', 0), call(429, -1, b'', -1, b'', 0)] != [None] * 3",
    "mount": "return call(165, 0, 0, 0, 0, 0)",
    "unmount": "return call(166, b'/nowhere', 0)",
    "pivot": "return call(155, 0, 0)",
    "mount attributes": "return call(442, -1, b'/nowhere', 0, 0, 0)",
    "list mounts": "return call(458, 0, 0, 0, 0)",
    "quota": "return call(179, -1, 0, 0, 0)",
    "attributes": "return call(188, b'/nowhere', b'user.x', b'1', 1, 0)",
    "change owner": "return call(92, b'/nowhere', 0, 0)",
    "device node": "return call(133, 0, 0, 0)",
    "who else is there": "import pwd; return [p.pw_name for p in pwd.getpwall()]",
}

# Would do harm outside.
RISKY = {
    "root through process 1": "return os.listdir('/proc/1/root')",
    "write anywhere": """
        written = []
        for place in ("/", "/etc", "/usr", "/usr/lib", "/python", "/python/bin", "/zygote", "/dev", "/proc", "/packages",
                      os.path.dirname(os.__file__), os.path.dirname(os.__file__) + "/site-packages"):
            try:
                with open(place + "/planted", "w") as file:
                    file.write("x")
                written.append(place)
            except OSError:
                pass
        return written
    """,
    "change the standard library": "return open(os.__file__, 'r+').fileno()",
    "remove the standard library": "os.unlink(os.__file__); return True",
    "change mode of the interpreter": "os.chmod(sys.executable, 0o777); return True",
    "hard link into the standard library": "os.link(os.__file__, '/work/os.py'); return open('/work/os.py', 'a').fileno()",
    "rename a folder of the root": "os.rename('/work', '/gone'); return True",
    "mode of a device": "os.chmod('/dev/null', 0o600); return True",
    "disk node": "import stat; os.mknod('/work/disk', 0o600 | stat.S_IFBLK, os.makedev(8, 0)); return open('/work/disk', 'rb').read(1)",
    "kernel log": "return open('/dev/kmsg', 'rb').read(1)",
    "change root": "os.chroot('/work'); return True",
    "real mount": "return libc.mount(b'tmpfs', b'/work', b'tmpfs', 0, None) == 0",
    "real remount": "return libc.mount(None, b'/', None, 32 | 4096, None) == 0",
    "real unmount": "return [p for p in (b'/proc', b'/dev', b'/tmp', b'/work') if libc.umount2(p, 2) == 0]",
    "huge file": """
        size = 0
        with open("/work/big", "wb") as file:
            while size < 300 << 20:
                size += file.write(bytes(1 << 20))
        return size
    """,
    "fill shared memory": """
        for number in range(200):
            with open(f"/dev/shm/{number}", "wb") as file:
                file.write(bytes(1 << 20))
        return True
    """,
    "three times the scratch space": """
        total = 0
        for place in ("/work", "/tmp", "/dev/shm"):
            try:
                with open(place + "/part", "wb") as file:
                    for _ in range(60):
                        total += file.write(bytes(1 << 20))
            except OSError:
                pass
        return total > 70 << 20
    """,
    "sparse file": "os.truncate(os.open('/work/sparse', os.O_CREAT | os.O_RDWR), 1 << 40); return True",
    "very many files": """
        for number in range(30_000):
            os.close(os.open(f"/work/{number}", os.O_CREAT | os.O_WRONLY))
        return True
    """,
    "run a file as a library": """
        import shutil, _ctypes
        shutil.copy(_ctypes.__file__, "/work/own.so")
        return bool(ctypes.CDLL("/work/own.so"))
    """,
    "descriptors of others": """
        found = []
        for number in range(4096):
            try:
                os.fstat(number)
            except OSError:
                continue
            found.append(number)
        return found != [0, 1, 2, 3] and found
    """,
    "read the channel's other end": "import fcntl; return fcntl.fcntl(3, fcntl.F_GETOWN)",
}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", [*LIVE, *RISKY])
async def test_contained(name: str, attack: Callable[..., Awaitable[str]]) -> None:
    await attack((LIVE | RISKY)[name])


@pytest.mark.skipif(os.getuid() != 0, reason="some probes need root outside, to show that they work")
@pytest.mark.parametrize("name", LIVE)
def test_probe_works_without_sandbox(name: str, plain: Callable[[str], Any]) -> None:
    assert plain(LIVE[name])
