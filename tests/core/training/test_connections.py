"""Connections to other machines are probed; those on this machine are left alone."""

import socket
import sys

import pytest

from headway.training.parallel import UNANSWERED, probe_connections

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the options are Linux's")


@pytest.mark.parametrize(("address", "is_probed"), [("127.0.0.2", True), ("127.0.0.1", False)])
def test_only_connections_to_another_address_are_probed(address, is_probed):
    with socket.create_server((address, 0)) as server:
        ours = socket.create_connection(server.getsockname(), source_address=("127.0.0.1", 0))
        theirs, _ = server.accept()
        with ours, theirs:
            probe_connections()
            for connection in (ours, theirs):
                probed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                limit = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
                assert (bool(probed), limit) == (is_probed, UNANSWERED * 1000 * is_probed)
            ours.sendall(b"still open")
            assert theirs.recv(10) == b"still open"
