"""``watch`` looks again and again, and ends when it is told to."""

import os
import signal
import subprocess
import sys
import threading
import time

from tests.cli.test_cli_group import environment


def test_each_look_shows_the_status_as_it_is_then(world):
    world.record("NVDA")
    later = threading.Timer(0.6, lambda: world.memory.record("AAPL", "2026-01-05", "Sell."))
    later.start()
    result = world.run("watch", "--interval", "1", "--times", "3")
    later.join()
    assert result.exit_code == 0
    assert "1 entry: 1 pending" in result.stdout.split("Ctrl-C")[1]
    assert "2 entries: 2 pending" in result.stdout.split("Ctrl-C")[3]
    assert "\x1b" not in result.stdout


def test_ctrl_c_ends_it_as_something_done(world):
    world.record("NVDA")
    given = environment(TRADMEM_LOG=str(world.log), PYTHONUNBUFFERED="1")
    command = [sys.executable, "-m", "tradmem", "watch", "--interval", "60"]
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as process:
        while "needs a person" not in process.stdout.readline().lower():
            pass
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0
