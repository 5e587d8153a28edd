"""What the system can hold a process to: its size, the files that it writes, the processes that it sees and signals.

Limits on sizes hold on every Unix. The rest is Linux's: a process becomes the parent of orphans among its descendants,
has numbers for processes of its own (`user_namespaces(7)`, `pid_namespaces(7)`), and gives up writing and signalling
(`landlock(7)`). Each function says whether the system has what it asks for, and none raises if it has not.
"""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

LINUX = sys.platform == "linux"
# <linux/prctl.h>, <linux/sched.h>
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
# <linux/landlock.h>; the numbers of its system calls are the same on all processors
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
WRITE_FILE, CHANGE_FOLDERS = 1 << 1, sum(1 << right for right in range(4, 13))
BETWEEN_FOLDERS, TRUNCATE = 1 << 13, 1 << 14  # since versions 2 and 3
SCOPED_SIGNALS = 1 << 1  # since version 6


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> bool:
    return LINUX and _libc().prctl(option, value, 0, 0, 0) == 0


def limit_sizes(memory: int, file: int) -> None:
    """Let this process hold at most so many bytes of data, write no larger file, and leave no core file."""
    for kind, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, file), (resource.RLIMIT_CORE, 0)):
        with suppress(OSError, ValueError):
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))


def end_with_parent(number: signal.Signals) -> bool:
    """Have this process get the signal when its parent ends."""
    return _prctl(PR_SET_PDEATHSIG, number)


def adopt_orphans() -> bool:
    """Make this process the parent of each descendant whose own parent ends, also of one that left the session."""
    return _prctl(PR_SET_CHILD_SUBREAPER, 1)


def children() -> list[int]:
    """The processes of which this one, which has one thread, is the parent."""
    with suppress(OSError):
        return [int(number) for number in Path("/proc/thread-self/children").read_text().split()]
    return []


def number_anew() -> bool:
    """Give the next child of this process the number 1, in a namespace in which no other process has a number.

    None in it can signal or trace one outside, and all end with the first.
    """
    user, group = os.getuid(), os.getgid()
    if not LINUX or _libc().unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0:
        return False
    with suppress(OSError):  # without a map, files seem to belong to nobody
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("place", ctypes.c_int32))


def give_up_writing(folder: str) -> bool:
    """Let this process and its children write only in the folder, and signal and trace only each other."""
    if not LINUX:
        return False
    call = _libc().syscall
    version = call(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    file = WRITE_FILE | (TRUNCATE if version >= 3 else 0)
    handled = file | CHANGE_FOLDERS | (BETWEEN_FOLDERS if version >= 2 else 0)
    asked = _Ruleset(handled, 0, SCOPED_SIGNALS if version >= 6 else 0)
    rules = call(CREATE_RULESET, ctypes.byref(asked), ctypes.c_size_t(ctypes.sizeof(asked)), 0)
    if rules < 0:
        return False
    for place, allowed in ((folder, handled), (os.devnull, file)):
        number = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        call(ADD_RULE, rules, 1, ctypes.byref(_Beneath(allowed, number)), 0)
        os.close(number)
    held = _prctl(PR_SET_NO_NEW_PRIVS, 1) and call(RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return held
