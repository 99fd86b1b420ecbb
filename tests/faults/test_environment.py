"""Settings in a worker's environment that must neither replace the token nor receive it."""

import netrc
import os
import subprocess
import sys

import pytest

from tests.factories import DeliveryFactory
from tests.faults.certificates import Authority
from tests.faults.endpoint import ConnectionCounter
from tests.faults.report import print_figures
from tests.faults.waiting import until


@pytest.fixture
def proxy():
    counter = ConnectionCounter()
    yield counter
    counter.close()


def test_netrc_and_proxies_are_ignored(processes, new_endpoint, shop_at, proxy, tmp_path):
    authority = Authority(tmp_path)
    ends = [new_endpoint(), new_endpoint(context=authority.context())]
    environment = _hostile_environment(tmp_path, proxy)
    # A client that uses these variables connects to the proxy and reads the password.
    client = [sys.executable, "-c", f"import requests; requests.get('{ends[0].url}')"]
    subprocess.run(client, env={**os.environ, **environment}, stderr=subprocess.DEVNULL, check=False)
    assert proxy.connections == 1
    assert netrc.netrc(environment["NETRC"]).authenticators("127.0.0.1") == ("thief", "", "thief")

    processes.start("beat")
    processes.start("worker", SSL_CERT_FILE=str(authority.path), **environment)
    shops = [shop_at(endpoint.url) for endpoint in ends]
    for shop in shops:
        DeliveryFactory.create(token=shop)
    until(lambda: all(endpoint.receipts for endpoint in ends), what="both events received")

    print_figures("netrc and proxies", sent=2, received=sum(len(endpoint.receipts) for endpoint in ends),
        connections_to_the_proxy=proxy.connections - 1)  # fmt: skip
    assert [endpoint.receipts[0].headers["authorization"] for endpoint in ends] == [
        f"Bearer {shop.clear_text}" for shop in shops
    ]
    assert proxy.connections == 1


def _hostile_environment(folder, proxy):
    path = folder / ".netrc"
    hosts = ("127.0.0.1", "localhost")
    path.write_text("".join(f"machine {host} login thief password thief\n" for host in hosts))
    path.chmod(0o600)
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    return {"HOME": str(folder), "NETRC": str(path), **dict.fromkeys(names, f"http://127.0.0.1:{proxy.port}")}
