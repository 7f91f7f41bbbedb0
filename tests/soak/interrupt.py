"""Ctrl-C and SIGTERM: whatever waits looks here, so that the end of a soak waits for nobody."""

import signal
import threading

over = threading.Event()


def pause(seconds):
    """Sleeps, unless the soak is over."""
    over.wait(seconds)


def ignore():
    """From now on nothing interrupts: what ran is being judged."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: None)  # SIG_IGN, and one that is pending is a complaint of Python


def install():
    """The first signal ends the soak, with its report; later ones change nothing."""
    def end(_number, _frame):
        ignore()
        over.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
