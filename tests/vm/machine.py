# SPDX-License-Identifier: GPL-2.0-only
"""The emulated machine: its argument list, and the port over which it reports.

The second serial port is a pair of pipes. Serial ports are built into every kernel
(virtio is not), and a pipe, unlike a socket, does not cost a message per byte.
"""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time

from report import Report

GRACE_S = 30  # for a guest that was told to stop, to send what it has
POLL_S = 0.02
CHUNK = 1 << 16
PR_SET_PDEATHSIG = 1
STOP = re.compile(rb"host: stop for (\d{1,5}) ms\r?\n")


def command_line(kernel, arguments):
    # At boot the kernel tests its timer in a loop, and panics if the emulator did not run meanwhile.
    words = ["console=ttyS0", "quiet", "panic=-1", "no_timer_check"]
    if "-rt-" in os.path.basename(kernel):
        words.append("noirqdebug")  # or a busy serial port is taken for a broken one
    return " ".join(words + arguments.append)


def emulator(kernel, initrd, arguments):
    """What all machines have in common."""
    # In one thread, because emulation in several cannot patch kernel text safely.
    model = "max,-hypervisor" if arguments.bare else "max"
    argv = ["qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", model]
    cpus = arguments.cpus or (1 if arguments.icount else 2)
    argv += ["-smp", str(cpus), "-m", str(arguments.mem)]
    argv += ["-icount", "shift=0,sleep=off"] if arguments.icount else []
    argv += ["-nodefaults", "-display", "none", "-no-reboot"]
    argv += ["-kernel", f"{kernel}/vmlinuz", "-initrd", initrd]
    argv += ["-append", command_line(kernel, arguments)]
    if arguments.pidfile:
        argv += ["-pidfile", arguments.pidfile]
    if arguments.monitor:
        argv += ["-monitor", f"unix:{arguments.monitor},server=on,wait=off"]
    return argv


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Port:
    """Our side of the guest's second serial port."""

    def __init__(self, folder):
        self.path = f"{folder}/port"
        for end in ("in", "out"):
            os.mkfifo(f"{self.path}.{end}")
        # Both ends open at once, so that neither side ever waits for the other to come.
        self.reader = os.open(f"{self.path}.out", os.O_RDWR | os.O_NONBLOCK)
        self.writer = os.open(f"{self.path}.in", os.O_RDWR | os.O_NONBLOCK)

    def read(self):
        parts = []
        try:
            while True:
                parts.append(os.read(self.reader, CHUNK))
        except BlockingIOError:
            return b"".join(parts)

    def tell_to_stop(self):
        os.write(self.writer, b"stop\n")


class Stopper:
    """Stops the emulator for as long as the guest asks on its console: then no CPU runs, and the
    guest's clock does, as on a host that has no time for its guests."""

    def __init__(self, console, pid):
        self.console, self.pid, self.at = console, pid, 0

    def look(self):
        try:
            with open(self.console, "rb") as file:
                file.seek(self.at)
                text = file.read()
        except OSError:
            return  # not there yet
        text = text[:text.rfind(b"\n") + 1]  # whole lines
        self.at += len(text)
        for match in STOP.finditer(text):
            os.kill(self.pid, signal.SIGSTOP)
            time.sleep(int(match[1]) / 1000)
            os.kill(self.pid, signal.SIGCONT)


def collect(port, running, timeout, look=lambda: None):
    """Read until the report is complete, the machine is gone, or time is up.

    Returns the report and whether the guest had to be told to stop. Meanwhile calls look().
    """
    report, told = Report(), False
    deadline = time.monotonic() + timeout
    while True:
        alive = running()  # asked first: what a machine wrote before it went is still there
        report.feed(port.read())
        if report.complete() or not alive:
            return report, told
        if time.monotonic() >= deadline:
            if told:
                return report, told
            port.tell_to_stop()
            told, deadline = True, time.monotonic() + GRACE_S
        look()
        time.sleep(POLL_S)


def run(kernel, folder, console, arguments):
    """Boot, let the guest run its command, and take its report."""
    port = Port(folder)
    argv = emulator(kernel, f"{folder}/initrd", arguments)
    argv += ["-serial", f"file:{console}", "-chardev", f"pipe,id=report,path={port.path}",
             "-serial", "chardev:report"]
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sys.stderr,
                             preexec_fn=die_with_parent)
    try:
        return collect(port, lambda: child.poll() is None, arguments.timeout,
                       Stopper(console, child.pid).look)
    finally:
        child.kill()
        child.wait()


def run_shell(kernel, folder, arguments):
    argv = emulator(kernel, f"{folder}/initrd", arguments) + ["-serial", "mon:stdio"]
    return subprocess.run(argv, check=False, preexec_fn=die_with_parent).returncode
