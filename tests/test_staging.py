"""Folders that are swapped in whole, and what builds that were killed have left."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bookbuild.model import BookError
from bookbuild.staging import is_ours, refuse_foreign, staged


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_old_folder_stays_until_the_block_has_ended(tmp_path):
    site = tmp_path / "site"
    with staged(site) as first:
        (first / "a").touch()
        assert not site.exists()
    with staged(site) as second:
        (second / "b").touch()
        assert (site / "a").exists()
    assert names(site) == [".bookbuild", "b"]
    assert names(tmp_path) == ["site"]


def test_a_block_that_raises_changes_nothing(tmp_path):
    site = tmp_path / "site"
    with staged(site) as first:
        (first / "a").touch()
    with pytest.raises(KeyboardInterrupt), staged(site) as second:
        (second / "b").touch()
        raise KeyboardInterrupt
    assert names(site) == [".bookbuild", "a"]
    assert names(tmp_path) == ["site"]


def test_of_two_builds_at_once_neither_fails_and_the_site_is_whole(tmp_path):
    """Four processes swap their folders in, all at the same time, over and over; each site is somebody's, none is mixed."""
    work = (
        "import sys; from pathlib import Path; from bookbuild.staging import staged\n"
        "for n in range(40):\n"
        "    with staged(Path(sys.argv[1])) as new:\n"
        "        for name in 'abc': (new / name).write_text(sys.argv[2])\n"
    )
    site = tmp_path / "site"
    running = [
        subprocess.Popen([sys.executable, "-c", work, str(site), str(n)], stderr=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    assert [(p.communicate()[1], p.returncode) for p in running] == [("", 0)] * len(running)
    assert names(site) == [".bookbuild", "a", "b", "c"] and names(tmp_path) == ["site"]
    assert len({(site / name).read_text() for name in "abc"}) == 1


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "site").symlink_to("disk")
    with staged(tmp_path / "site") as new:
        (new / "a").touch()
    assert (tmp_path / "site").is_symlink() and (tmp_path / "disk" / "a").exists()


def dead_pid() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_what_a_killed_build_left_is_swept_away(tmp_path):
    left = tmp_path / f".site.new-{dead_pid()}"
    left.mkdir()
    unrelated = tmp_path / ".site.new-notes"
    unrelated.mkdir()
    with staged(tmp_path / "site"):
        pass
    assert not left.exists() and unrelated.exists()


def test_a_site_that_was_moved_away_by_a_killed_swap_comes_back(tmp_path):
    old = tmp_path / f".site.old-{dead_pid()}"
    old.mkdir()
    (old / "a").touch()
    with pytest.raises(ValueError), staged(tmp_path / "site"):
        raise ValueError
    assert names(tmp_path) == ["site"] and (tmp_path / "site" / "a").exists()


def test_a_folder_with_other_files_is_foreign(tmp_path):
    refuse_foreign(tmp_path / "new")
    refuse_foreign(tmp_path)  # empty
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(BookError, match="output-foreign"):
        refuse_foreign(tmp_path)


def test_a_file_in_the_way_is_foreign(tmp_path):
    (tmp_path / "site").touch()
    with pytest.raises(BookError, match="not a folder"):
        refuse_foreign(tmp_path / "site")


def test_what_plain_mkdocs_built_may_be_replaced_but_a_repository_never(tmp_path):
    for name in ("index.html", "404.html", "sitemap.xml"):
        (tmp_path / name).touch()
    assert is_ours(tmp_path)
    (tmp_path / ".git").mkdir()
    assert not is_ours(tmp_path)
