"""Run what deploy/Dockerfile does, without a container: ``python tests/outside/container.py MODEL``, as root.

The commands of the file's RUN lines build the wheel and install it into an environment of its own, which finds the
other packages in that of this program. The server then has a root that cannot be written, a user who owns
nothing but the volumes, no capabilities, and the variables of the file; the file's own health check asks it, a
text is translated, and SIGTERM must end it with 0. Whatever it writes outside the volumes and /tmp is an error.
"""

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
LINES = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.M)).splitlines()
USER = 10001
# In a mount namespace of its own: all that is mounted becomes read-only, and the volumes are mounted writable.
SANDBOX = """
mount --make-rprivate /
mount --bind {volumes}/cache {volumes}/cache
mount -t tmpfs tmpfs {volumes}/tmp
chmod 1777 {volumes}/tmp
mount -o remount,bind,ro /
exec setpriv --reuid {user} --regid {user} --clear-groups --no-new-privs --bounding-set=-all "$@"
"""


def run_line(start, change, folder):
    """Run the RUN line that contains a text, with its directories replaced."""
    [line] = {line for line in LINES if line.startswith("RUN") and start in line}
    command = re.sub(r"^RUN (--mount=\S+ )?", "", line)
    for old, new in change.items():
        command = command.replace(old, new)
    print(f"$ {command}", flush=True)
    subprocess.run(command, shell=True, check=True, cwd=folder)


def main():
    """Build, install, serve, ask and stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    model = parser.parse_args().model.absolute()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        work = Path(name)
        work.chmod(0o755)
        build, volumes, environment = work / "build", work / "volumes", work / "venv"
        build.mkdir()
        ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
        copied = [
            line[1:] for line in ignored if line.startswith("!") and (ROOT / line[1:]).exists()
        ]
        subprocess.run(["cp", "-r", *(ROOT / file for file in copied), build], check=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        packages = environment / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
        (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
        pip = {"pip ": f"{environment}/bin/pip ", "/wheels": f"{work}/wheels"}
        run_line("pip wheel", pip, build)
        run_line("serve,documents", pip | {"--no-cache-dir": "--no-deps"}, build)
        for volume in ("cache", "tmp"):
            (volumes / volume).mkdir(parents=True)
            os.chown(volumes / volume, USER, USER)
        return serve(model, volumes, environment)


def serve(model, volumes, environment):
    """Start the server in the sandbox, ask it, and stop it."""
    [given] = [line.removeprefix("ENV ") for line in LINES if line.startswith("ENV ")]
    variables = dict(word.split("=", 1) for word in shlex.split(given))
    variables |= {"XDG_CACHE_HOME": f"{volumes}/cache", "HOME": f"{volumes}/tmp"}
    variables |= {"TMPDIR": f"{volumes}/tmp"}
    variables |= {"PATH": f"{environment}/bin:/usr/bin:/bin", "LT_HOST": "127.0.0.1"}
    [entry] = [
        json.loads(line.removeprefix("ENTRYPOINT ")) for line in LINES if "ENTRYPOINT" in line
    ]
    sandbox = SANDBOX.format(volumes=volumes, user=USER)
    command = ["unshare", "--mount", "sh", "-ec", sandbox, "sh", *entry, str(model)]
    server = subprocess.Popen(command, env=variables, cwd="/")
    try:
        check_writing(server.pid)
        [check] = [line.partition("CMD ")[2] for line in LINES if line.startswith("HEALTHCHECK")]
        python, *words = json.loads(check)
        wait_for([f"{environment}/bin/{python}", *words], server)
        fields = json.dumps({"q": "Hello, Anna", "source": "en", "target": "de"}).encode()
        request = urllib.request.Request(
            "http://127.0.0.1:5000/translate", fields, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            print(json.load(answer))
        status = Path(f"/proc/{server.pid}/status").read_text()
        facts = dict(re.findall(r"^(\w+):\t(.*)$", status, re.M))
        print({key: facts[key] for key in ("Uid", "CapEff", "CapBnd", "NoNewPrivs")})
        assert facts["Uid"].split() == [str(USER)] * 4
        assert int(facts["CapEff"], 16) == int(facts["CapBnd"], 16) == 0
        assert facts["NoNewPrivs"] == "1"
        print("cache", sorted(str(p.relative_to(volumes)) for p in (volumes / "cache").rglob("*")))
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(60)
    print("ended with", code)
    return code


def check_writing(server):
    """Check that the server's root cannot be written, not even by root."""
    deadline = time.monotonic() + 20
    while "/volumes/tmp" not in Path(f"/proc/{server}/mounts").read_text():
        assert time.monotonic() < deadline, "no sandbox"
        time.sleep(0.1)
    time.sleep(1)
    command = ["nsenter", "--target", str(server), "--mount", "touch", "/written"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    print(tried.stderr.strip())
    assert "Read-only file system" in tried.stderr


def wait_for(check, server):
    """Run the health check until it succeeds."""
    for _ in range(60):
        assert server.poll() is None, "the server has ended"
        if subprocess.run(check, capture_output=True, check=False).returncode == 0:
            print("healthy")
            return
        time.sleep(3)
    raise AssertionError("the server did not become healthy")


if __name__ == "__main__":
    sys.exit(main())
