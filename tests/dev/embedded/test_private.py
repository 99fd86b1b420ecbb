"""Private folders and files, and links or foreign files in their place."""

import json
import os
import stat

import pytest

from config.env import StartRefused
from dev.embedded import local_secrets
from dev.embedded.private import LOG_BYTES, open_private, private_folder, runtime_dir, shorten

OTHER_UID = 54_321


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def give_away(path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(path, OTHER_UID, OTHER_UID)


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


class TestPrivateFolder:
    def test_is_made_for_its_owner_alone(self, tmp_path):
        assert mode(private_folder(tmp_path / "a" / "b")) == 0o700

    @pytest.mark.parametrize("found", [0o755, 0o777, 0o500])
    def test_is_closed_when_it_was_open(self, tmp_path, found):
        folder = tmp_path / "folder"
        folder.mkdir()
        folder.chmod(found)

        private_folder(folder)

        assert mode(folder) == 0o700

    def test_is_no_link(self, tmp_path):
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir(mode=0o755)
        (tmp_path / "folder").symlink_to(elsewhere)

        with pytest.raises(StartRefused, match="cannot be used"):
            private_folder(tmp_path / "folder")

        assert mode(elsewhere) == 0o755

    def test_is_nobody_elses(self, tmp_path):
        folder = tmp_path / "folder"
        folder.mkdir(mode=0o755)
        give_away(folder)

        with pytest.raises(StartRefused, match=f"belongs to another user \\(uid {OTHER_UID}\\)"):
            private_folder(folder)

        assert mode(folder) == 0o755


class TestRuntimeDir:
    def test_is_private_and_refused_when_it_is_a_link(self, data_dir, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        folder = runtime_dir()
        assert mode(folder) == 0o700
        folder.rmdir()
        folder.symlink_to(data_dir)

        with pytest.raises(StartRefused, match="cannot be used"):
            runtime_dir()


class TestOpenPrivate:
    def test_closes_a_file_that_was_open_to_others(self, tmp_path):
        path = tmp_path / "file"
        path.touch(mode=0o644)

        os.close(open_private(path))

        assert mode(path) == 0o600

    def test_does_not_follow_a_link(self, tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "target")

        with pytest.raises(StartRefused, match="cannot be used"):
            open_private(tmp_path / "link")

        assert not (tmp_path / "target").exists()

    def test_refuses_a_pipe(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")

        with pytest.raises(StartRefused, match="not a regular file"):
            open_private(tmp_path / "pipe")


class TestLocalSecrets:
    def test_stay_the_same_in_a_private_file(self, data_dir):
        made = local_secrets()

        assert local_secrets() == made
        assert mode(data_dir / "secrets.json") == 0o600

    def test_are_not_read_through_a_link(self, data_dir, tmp_path):
        names = ("SECRET_KEY", "CREDENTIALS_KEYS")  # pragma: allowlist secret
        (tmp_path / "others").write_text(json.dumps(dict.fromkeys(names, "known")))
        (data_dir / "secrets.json").symlink_to(tmp_path / "others")

        with pytest.raises(StartRefused, match=r"secrets\.json cannot be used"):
            local_secrets()

    def test_are_not_another_users(self, data_dir):
        local_secrets()
        give_away(data_dir / "secrets.json")

        with pytest.raises(StartRefused, match="belongs to another user"):
            local_secrets()


class TestShorten:
    def test_keeps_the_end_of_a_long_log_while_its_server_appends(self, tmp_path):
        log = tmp_path / "log"
        with log.open("ab", buffering=0) as server:
            server.write(b"x" * LOG_BYTES + b"last")

            shorten(log)
            server.write(b" and more")

        assert log.stat().st_size == 1024 * 1024 + len(" and more")
        assert log.read_bytes().endswith(b"xlast and more")

    def test_leaves_a_short_log_alone(self, tmp_path):
        (tmp_path / "log").write_bytes(b"x" * LOG_BYTES)

        shorten(tmp_path / "log")

        assert (tmp_path / "log").stat().st_size == LOG_BYTES

    def test_does_not_mind_a_missing_one(self, tmp_path):
        shorten(tmp_path / "log")

        assert not (tmp_path / "log").exists()
