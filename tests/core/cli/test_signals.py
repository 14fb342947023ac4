"""A stop signal ends a command, whatever the command does."""

import signal
import subprocess
import sys
import time

import pytest

TRAINING = "forced_end(None), remember_signals()"
WORK = {
    "in Python": "while True: pass",
    "in native code": "__import__('hashlib').pbkdf2_hmac('sha256', b'', b'', 10**9)",
}


def end_by(numbers, context, work):
    """Send signals to a process in such a context; return its exit code and its last seconds."""
    code = f"""if True:
        import signal
        from headway.cli.signals import forced_end, remember_signals
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: None)
        signal.signal(signal.SIGHUP, lambda *_: None)
        with {context}:
            print("ready", flush=True)
            {work}
    """
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "ready\n"
        for number in numbers:
            assert process.poll() is None
            time.sleep(0.4)
            process.send_signal(number)
        started = time.monotonic()
        try:
            return process.wait(20), time.monotonic() - started
        finally:
            process.kill()


@pytest.mark.parametrize("work", WORK)
def test_a_second_signal_ends_a_training_at_once(work):
    numbers = [
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGINT,
    ]  # SIGHUP, as systemd sends, is no second
    code, seconds = end_by(numbers, TRAINING, WORK[work])
    assert (code, seconds < 1) == (130, True)


@pytest.mark.parametrize("work", WORK)
def test_a_signal_ends_other_work_in_time(work):
    code, seconds = end_by([signal.SIGTERM], "forced_end(0.5)", WORK[work])
    assert code == 143
    assert 0.3 < seconds < 3


def test_signals_that_come_together_are_one():
    """A job's signal reaches a rank twice: from the system, and from its launcher."""
    work = """
            import os, time
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.02)
            raise SystemExit(7)"""
    assert end_by([], TRAINING, work)[0] == 7


def test_a_training_is_not_ended_before_it_is_saved():
    work = "import time; time.sleep(0.5); raise SystemExit(7)"
    code, _ = end_by([signal.SIGINT], f"forced_end(0.1), {TRAINING}", work)
    assert code == 7
