"""Train on a Slurm cluster of one node, interrupt the jobs, and compare the runs with those of one process.

    apt-get install slurm-wlm; python tests/outside/slurm_node.py

Slurm's daemons are started for this script alone, with their files in a temporary directory. Jobs run the script
of deploy/training.sbatch with two ranks on a toy model. They are requeued by the operator (``scontrol requeue``), reach
the end of their time, and lose the processes of a step (``scancel --signal=KILL``). At the end weights, optimizer
and metrics must be those of a run with one process that nothing happened to, bit by bit. A canceled job must save
a checkpoint and stay ended. The command must be a single process in a batch script, in a shell of ``salloc`` and
in a step with one task. This needs Debian's slurm-wlm, and root.
"""

import os
import re
import secrets
import shlex
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from changing_ranks import COMPARED, MODELS, SETTINGS

from support.campaign import Campaign, note, wait_until
from support.processes import command_line
from support.runs import count_steps, words, write_corpus

SCRIPT = Path(__file__).parents[2] / "deploy" / "training.sbatch"
CONFIGURATION = Path(__file__).with_name("slurm.conf")
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
PATIENCE = 300.0  # seconds of a training, or of Slurm


@contextmanager
def slurm(folder):
    """Run Slurm with one node; its commands find it by the variable SLURM_CONF."""
    host = socket.gethostname().split(".")[0]
    configuration = folder / "slurm.conf"
    configuration.write_text(CONFIGURATION.read_text().format(host=host, folder=folder))
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    os.environ["SLURM_CONF"] = str(configuration)
    munge = [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed")]
    commands = [
        ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket", *munge],
        ["slurmctld", "-D"],
        ["slurmd", "-D", "-N", "node1"],
    ]  # fmt: skip
    daemons = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.log").open("wb") as log:
                daemons.append(
                    subprocess.Popen(
                        ["/usr/sbin/" + command[0], *command[1:]], stdout=log, stderr=log
                    )
                )
            time.sleep(1)
        wait_until(lambda: "idle" in output("sinfo", "--noheader"), PATIENCE, "an idle node")
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()


class Jobs(Campaign):
    """Trainings as jobs of Slurm."""

    def work(self):
        """Train in jobs of all kinds, and compare."""
        corpus = write_corpus(self.folder, train=1500)
        self.arguments = ["--quiet", *corpus, *words(MODELS["quick"] | SETTINGS)]
        reference = self.folder / "reference"
        subprocess.run([*self.command(reference), "--ranks", "1"], check=True)
        with slurm(self.folder):
            self.interrupt(self.folder / "interrupted")
            self.train_alone(self.folder / "salloc", ["salloc", "-n", "2"])
            self.train_alone(self.folder / "one-task", ["srun", "-n", "1"])
            command = shlex.join(self.command(self.folder / "batch"))
            script = f"#!/bin/bash\n#SBATCH --ntasks=2\n#SBATCH --wait\n{command}\n"
            self.submit(self.folder / "batch", script)
            self.mistake(self.folder / "mistake")
            self.cancel(self.folder / "canceled")
        for finished in ("interrupted", "salloc", "one-task", "batch"):
            self.compare(self.folder / finished, reference, COMPARED)

    def command(self, path):
        """Return the command that starts a training or goes on with it."""
        return [sys.executable, "-m", "headway", "train", str(path), *self.arguments]

    def submit(self, path, script):
        """Submit the script of a job and return the job's number."""
        file = path.with_suffix(".sh")
        file.write_text(script)
        return output(
            "sbatch",
            "--parsable",
            f"--chdir={self.folder}",
            f"--output={path}.log",
            "--open-mode=append",
            str(file),
        )

    def interrupt(self, path):
        """Train in a job that is interrupted in three ways, each of which puts it into the queue again."""
        job = self.submit(path, documented_script(self.command(path)))
        interruptions = {
            3: ["scontrol", "requeue", job],
            6: ["scancel", "--signal=KILL", f"{job}.0"],
            9: ["scancel", "--signal=HUP", job],  # as --signal=HUP@300 sends it
        }
        for restarts, (step, command) in enumerate(interruptions.items(), 1):
            wait_for_step(path, step)
            self.expect(len(sharing_ranks(path)) == 2, f"{path.name}: two ranks share no memory")
            note(*command)
            output(*command)
            wait_for_field(job, "Restarts", str(restarts))
            wait_for_field(job, "JobState", "PENDING")
            # Slurm waits two minutes until the old credentials of a requeued job are certainly refused. Within a
            # second, it might refuse the new ones, too.
            time.sleep(3)
            output("scontrol", "update", f"JobId={job}", "StartTime=now")
        wait_for_field(job, "JobState", *ENDED)
        self.expect(field(job, "JobState") == "COMPLETED", f"{path.name}: {field(job, 'JobState')}")

    def cancel(self, path):
        """Cancel a job, which must save a checkpoint and must not put itself into the queue again."""
        job = self.submit(path, documented_script(self.command(path)))
        wait_for_step(path, 3)
        output("scancel", job)
        wait_for_field(job, "JobState", *ENDED)
        time.sleep(10)  # in which it must not be queued again
        saved = sorted((path / "checkpoints").iterdir())[-1].name
        self.expect(
            saved == f"step-{count_steps(path):08d}", f"{path.name}: canceled, saved {saved}"
        )
        self.expect(field(job, "JobState") == "CANCELLED", f"{path.name}: {field(job, 'JobState')}")
        self.expect(field(job, "Restarts") == "0", f"{path.name}: restarted after scancel")

    def train_alone(self, path, launcher):
        """Train where Slurm's variables name several tasks, but the command is not one of them."""
        result = subprocess.run(
            [*launcher, *self.command(path)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.expect(result.returncode == 0, f"{path.name}: {result.stderr}")

    def mistake(self, path):
        """Give two tasks a wrong option, which must be named once."""
        result = subprocess.run(
            ["srun", "-n", "2", "--kill-on-bad-exit=1", *self.command(path), "--training.max-steps", "many"],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        lines = [
            line
            for line in result.stderr.splitlines()
            if not line.startswith(("srun:", "slurmstepd"))
        ]
        self.expect(result.returncode == 2, f"{path.name}: exit code {result.returncode}")
        self.expect(len(lines) == 1 and "max-steps" in lines[0], f"{path.name}: {result.stderr}")


def documented_script(command):
    """Return the batch script that we ship for two tasks on one node, with another command."""
    script = re.sub(
        r"#SBATCH --(gpus-per-node|output)=.*\n", "", SCRIPT.read_text(encoding="utf-8")
    )
    for name, value in (("nodes", 1), ("ntasks-per-node", 2), ("cpus-per-task", 1)):
        script = re.sub(rf"--{name}=\S+", f"--{name}={value}", script)
    script, count = re.subn(r"headway train .*", lambda _: shlex.join(command), script)
    assert count == 1, "the batch script does not train"
    return script


def sharing_ranks(path):
    """Return the ranks of a training that exchange gradients through memory that they share."""
    processes = [int(process.name) for process in Path("/proc").glob("[0-9]*")]
    ranks = [each for each in processes if f"\0{path}\0" in command_line(each)]
    return [rank for rank in ranks if "headway-gradients" in Path(f"/proc/{rank}/maps").read_text()]


def output(*command):
    """Return what a command prints."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def field(job, name):
    """Return a field of a job's description."""
    found = re.search(rf"\b{name}=(\S+)", output("scontrol", "show", "job", job))
    return found[1] if found else ""


def wait_for_step(path, step):
    """Wait until a run has logged a step."""
    wait_until(lambda: count_steps(path) >= step, PATIENCE, f"{path.name}: step {step}")


def wait_for_field(job, name, *values):
    """Wait until a field of a job's description has one of the values."""
    what = f"{name} of job {job}: {' or '.join(values)}"
    wait_until(lambda: field(job, name) in values, PATIENCE, what)


if __name__ == "__main__":
    Jobs.run(__doc__, {})
