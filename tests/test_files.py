"""What is written appears whole and on disk, or not at all, and nothing is left beside it."""

import errno
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from headway.errors import HeadwayError
from headway.files import (
    hash_file,
    remove,
    remove_leftovers,
    replace_bytes,
    replace_text,
    temporary_path,
    write_atomically,
)
from headway.locks import is_at, lock_file


def tree(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_a_file_replaces_another_and_a_directory_an_empty_one(tmp_path):
    replace_bytes(tmp_path / "a", b"old")
    replace_text(tmp_path / "a", "néw")
    (tmp_path / "b").mkdir()
    with write_atomically(tmp_path / "b") as temporary:
        (temporary / "inside").mkdir(parents=True)
        (temporary / "inside" / "c").write_bytes(b"c")
        assert list((tmp_path / "b").iterdir()) == []
    assert tree(tmp_path) == {"a": "néw".encode(), "b/inside/c": b"c"}


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_what_fails_changes_nothing(kind, tmp_path):
    replace_bytes(tmp_path / "a", b"old")

    def write():
        with write_atomically(tmp_path / "a") as temporary:
            if kind == "directory":
                temporary.mkdir()
            (temporary / "b" if kind == "directory" else temporary).write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert tree(tmp_path) == {"a": b"old"}
    assert len(list(tmp_path.iterdir())) == 1


def test_a_directory_that_holds_something_is_not_replaced(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "precious").write_bytes(b"x")
    with pytest.raises(OSError), write_atomically(tmp_path / "a") as temporary:
        temporary.mkdir()
    assert tree(tmp_path) == {"a/precious": b"x"}
    assert len(list(tmp_path.iterdir())) == 1


def test_the_name_comes_when_every_part_is_on_disk(tmp_path, monkeypatch):
    path, seen = tmp_path / "a", []

    def fsync(descriptor):
        seen.append((os.fstat(descriptor).st_ino, path.exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    with write_atomically(path) as temporary:
        (temporary / "inside").mkdir(parents=True)
        (temporary / "inside" / "b").write_bytes(b"b")
    parts = {p.stat().st_ino for p in (path, path / "inside", path / "inside" / "b")}
    assert {node for node, named in seen if not named} == parts
    assert [node for node, named in seen if named] == [tmp_path.stat().st_ino]


def test_a_full_disk_names_the_file_that_was_wanted(tmp_path, monkeypatch):
    path = tmp_path / "a"
    replace_bytes(path, b"old")

    def fsync(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="No space left") as full:
        replace_bytes(path, b"new")
    with pytest.raises(NotADirectoryError) as nowhere:
        replace_bytes(path / "b", b"new")
    assert (full.value.filename, nowhere.value.filename) == (str(path), str(path / "b"))
    assert tree(tmp_path) == {"a": b"old"}


def test_two_processes_do_not_write_into_each_others_file(tmp_path, monkeypatch):
    path = tmp_path / "a"
    with write_atomically(path) as first:
        first.write_bytes(b"first")
        with monkeypatch.context() as other:
            other.setattr(os, "getpid", lambda: 17)
            replace_bytes(path, b"other")
        assert path.read_bytes() == b"other"
    assert tree(tmp_path) == {"a": b"first"}


def test_what_a_killed_process_left_is_found_and_nothing_else(tmp_path):
    temporary_path(tmp_path / "file").write_bytes(b"half")
    (temporary_path(tmp_path / "directory") / "inside").mkdir(parents=True)
    others = {"tmp-17", ".tmp", ".tmp-", ".tmp-notes", ".tmp-my-notes", "precious"}
    for name in others:
        (tmp_path / name).write_bytes(b"x")
    remove_leftovers(tmp_path)
    assert set(tree(tmp_path)) == others
    remove_leftovers(tmp_path / "nowhere")


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "precious").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    remove(tmp_path / "link")
    remove(tmp_path / "nowhere")
    assert set(tmp_path.iterdir()) == {tmp_path / "a"}
    assert tree(tmp_path) == {"a/precious": b"x"}


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_the_next_writer_removes_what_a_killed_process_left(kind, tmp_path):
    process = subprocess.Popen(["true"])
    process.wait()
    own = temporary_path(tmp_path / "a").name.replace(str(os.getpid()), str(process.pid))
    left = [tmp_path / own, tmp_path / f".tmp-{process.pid}-a"]  # the second is of version 0.2
    # Of a running process, of another file, and of another machine.
    others = [
        tmp_path / own.replace(str(process.pid), str(os.getppid())),
        tmp_path / f".tmp-{process.pid}-b-a",
        tmp_path / f".tmp-00000000.{process.pid}-a",
    ]
    for path in (*left, *others):
        if kind == "directory":
            path.mkdir()
            path = path / "inside"
        path.write_bytes(b"half")
    replace_bytes(tmp_path / "a", b"new")
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_error_names_the_file_that_the_user_gave(tmp_path):
    path, input_file = tmp_path / "out", tmp_path / "in"
    for named, expected in (
        (temporary_path(path) / "weights", path),
        (None, path),
        (input_file, input_file),
    ):
        with pytest.raises(OSError, match="No space") as caught, write_atomically(path):
            raise OSError(errno.ENOSPC, "No space left on device", named and str(named))
        assert caught.value.filename == str(expected)


def test_a_device_or_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HeadwayError, match="pipe: is no file"), write_atomically(tmp_path / "pipe"):
        raise AssertionError
    assert (tmp_path / "pipe").is_fifo()


def test_a_lock_of_a_file_that_was_removed_meanwhile_is_not_taken(tmp_path):
    """Otherwise two processes hold the lock: one that of the removed file, and one that of a new file."""
    path = tmp_path / "lock"
    with ThreadPoolExecutor() as pool:
        with lock_file(path):
            waiting = pool.submit(lock_file, path, wait=True)
            time.sleep(0.1)  # it has opened the file, and waits
            path.unlink()
        with waiting.result(timeout=10) as file:
            assert is_at(file, path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    link = tmp_path / "model.safetensors"
    link.symlink_to("/proc/self/mem")  # which opens as a file, and whose first byte cannot be read
    with pytest.raises(OSError, match=str(link)):
        hash_file(link)
