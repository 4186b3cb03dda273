"""Has a file open for writing in a way that /proc/PID/fd does not show: `holder.py TRICK FILE`.

Prints `ready`, then waits for the end of its input.
"""
import ctypes
import mmap
import os
import platform
import sys
import threading

trick, path = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
CLONE_FILES = 0x400
SYS_EXIT = {"x86_64": 60, "aarch64": 93, "riscv64": 93}.get(platform.machine(), 1)
# The same on all processors.
SYS_IO_URING_SETUP, SYS_IO_URING_REGISTER, REGISTER_FILES = 425, 427, 2


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), trick)
    return result


def wait():
    print("ready", flush=True)
    sys.stdin.readline()
    os._exit(0)


def has_ended(process):
    with open(f"/proc/{process}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "Z"


def opened():
    return os.open(path, os.O_RDWR)


def mapped():
    file = opened()
    own = {"trackfd": False} if sys.version_info >= (3, 13) else {}
    kept = mmap.mmap(file, 4096, **own)
    os.close(file)
    return kept


def second_thread(act):
    """Waits until the first thread has ended; it is then the only one."""
    kept = act()
    while not has_ended(os.getpid()):
        os.sched_yield()
    wait()
    return kept


def own_table():
    checked(libc.unshare(CLONE_FILES))
    opened()
    wait()


def end_first_thread(act):
    thread = threading.Thread(target=second_thread, args=[act])
    thread.start()
    libc.syscall(SYS_EXIT, 0)


if trick == "first-thread-ended":
    end_first_thread(opened)
elif trick == "mapped-first-thread-ended":
    end_first_thread(mapped)
elif trick == "own-table":
    thread = threading.Thread(target=own_table)
    thread.start()
    thread.join()
elif trick == "registered":
    parameters = (ctypes.c_uint8 * 120)()
    ring = checked(libc.syscall(SYS_IO_URING_SETUP, 4, ctypes.byref(parameters)))
    file = opened()
    files = (ctypes.c_int * 1)(file)
    checked(libc.syscall(SYS_IO_URING_REGISTER, ring, REGISTER_FILES, files, 1))
    os.close(file)
    wait()
else:
    sys.exit(f"unknown trick {trick}")
