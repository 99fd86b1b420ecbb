"""Photos in a bucket: boto3 and django-storages with our setting, against a server on loopback."""

import errno
import os
import stat
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest
from django.core.files.base import ContentFile

from config import proof_storage
from config.proof_storage import DurableFileStorage
from delivery.actions import proofs

_STAMP = datetime(2026, 11, 22, 1, tzinfo=UTC)


class Bucket(BaseHTTPRequestHandler):
    """The part of S3's API that stores, reads, lists and deletes objects of one bucket."""

    objects: dict[str, bytes]

    def do_PUT(self):
        self.objects[self._key()] = self._unchunked(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(200)

    def do_GET(self):
        if self._key():
            content = self.objects.get(self._key())
            self._answer(404 if content is None else 200, content or b"")
            return
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        prefix = query.get("prefix", "")
        names = [key for key in self.objects if key.startswith(prefix)]
        folders = {prefix + key.removeprefix(prefix).split("/")[0] + "/" for key in names if "/" in key[len(prefix) :]}
        files = [key for key in names if "/" not in key[len(prefix) :]]
        listed = [f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in sorted(folders)]
        listed += [f"<Contents><Key>{escape(name)}</Key><Size>1</Size></Contents>" for name in sorted(files)]
        self._answer(200, f"<ListBucketResult>{''.join(listed)}</ListBucketResult>".encode())

    def do_HEAD(self):
        self._answer(200 if self._key() in self.objects else 404)

    def do_DELETE(self):
        self.objects.pop(self._key(), None)
        self._answer(204)

    def log_message(self, format, *args):  # noqa: A002  # the name in the base class
        pass

    def _key(self):
        return unquote(urlsplit(self.path).path).removeprefix("/photos").lstrip("/")

    def _unchunked(self, body):
        """boto3 sends some bodies in chunks with a checksum at the end (aws-chunked)."""
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            return body
        content = b""
        while (size := int(body.partition(b"\r\n")[0].split(b";")[0], 16)) > 0:
            body = body.partition(b"\r\n")[2]
            content, body = content + body[:size], body[size + 2 :]
        return content

    def _answer(self, status, content=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", f"{_STAMP:%a, %d %b %Y %H:%M:%S} GMT")
        self.send_header("ETag", '"1"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@pytest.fixture
def bucket(settings, monkeypatch) -> Iterator[dict[str, bytes]]:
    """The objects of a bucket, which is the storage of photos."""
    objects: dict[str, bytes] = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OneBucket", (Bucket,), {"objects": objects}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")  # pragma: allowlist secret
    monkeypatch.setenv("AWS_DEFAULT_REGION", "sa-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_port}")
    proofs = proof_storage.setting(bucket="photos", folder=Path("unused"))
    settings.STORAGES = {**settings.STORAGES, "proofs": proofs}
    yield objects
    server.shutdown()
    server.server_close()


class TestFolder:
    @pytest.fixture
    def files(self, tmp_path):
        setting = proof_storage.setting(bucket="", folder=tmp_path / "proofs")
        return DurableFileStorage(**setting["OPTIONS"])

    def test_is_readable_by_the_account_of_the_service_alone(self, files, tmp_path):
        files.save("2026-11-22/a.jpg", ContentFile(b"photo"))

        day = tmp_path / "proofs" / "2026-11-22"
        assert [(path.name, path.read_bytes()) for path in day.iterdir()] == [("a.jpg", b"photo")]
        assert [stat.S_IMODE(path.stat().st_mode) for path in (day / "a.jpg", day)] == [0o600, 0o700]

    def test_has_nothing_of_a_file_that_could_not_be_written(self, files, tmp_path, monkeypatch):
        def fail(_descriptor):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)

        with pytest.raises(OSError, match="No space"):
            files.save("2026-11-22/a.jpg", ContentFile(b"photo"))

        assert list((tmp_path / "proofs" / "2026-11-22").iterdir()) == []


class TestBucket:
    def test_keeps_reads_lists_and_deletes(self, bucket):
        files = proofs.files()

        name = files.save("2026-11-22/a.jpg", ContentFile(b"photo"))

        assert bucket == {"proofs/2026-11-22/a.jpg": b"photo"}
        with files.open(name) as file:
            assert file.read() == b"photo"
        assert files.listdir("") == (["2026-11-22"], [])
        assert files.listdir("2026-11-22") == ([], ["a.jpg"])
        assert files.get_modified_time(name) == _STAMP
        files.delete(name)
        assert bucket == {}
        assert not files.exists(name)

    @pytest.mark.django_db
    def test_loses_photos_that_are_no_longer_kept(self, bucket):
        bucket |= {"proofs/2026-01-01/old.jpg": b"x", "proofs/2026-11-22/orphan.jpg": b"x", "other/file": b"x"}

        proofs.prune(at=datetime(2026, 11, 22, 3, tzinfo=UTC))

        assert bucket == {"other/file": b"x"}
