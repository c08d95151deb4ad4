"""A proxy before a server that loses replies on purpose: the command was carried out, nobody hears of it."""

import asyncio
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

COMMANDS = (b"EVALSHA", b"EVAL\r\n")


class LossyProxy:
    """Stands between client and server. `lose`: how many replies to scripts are still to be lost, `after` so many."""

    def __init__(self, upstream: str) -> None:
        self.lose = 0
        self.after = 0
        self.lost = 0
        self.asked = 0
        self._upstream = upstream
        self._lines: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's connection, until either side hangs up or a reply is lost."""
        task = asyncio.current_task()
        assert task is not None
        self._lines.add(task)
        up_reader, up_writer = await asyncio.open_unix_connection(self._upstream)
        asked = bytearray()
        try:
            async with asyncio.TaskGroup() as both:
                upward = both.create_task(self._carry_questions(reader, up_writer, asked))
                await self._carry_answers(up_reader, writer, asked)
                upward.cancel()
        except (ConnectionError, asyncio.CancelledError, ExceptionGroup):
            pass
        finally:
            writer.close()
            up_writer.close()
            self._lines.discard(task)

    async def _carry_questions(
        self, reader: asyncio.StreamReader, up_writer: asyncio.StreamWriter, asked: bytearray
    ) -> None:
        while piece := await reader.read(1 << 20):
            asked += piece
            up_writer.write(piece)
        up_writer.write_eof()

    async def _carry_answers(
        self, up_reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: bytearray
    ) -> None:
        while answer := await up_reader.read(1 << 20):
            if self._loses(bytes(asked)):
                return
            asked.clear()
            writer.write(answer)

    def _loses(self, request: bytes) -> bool:
        if not any(command in request for command in COMMANDS):
            return False
        self.asked += 1
        if self.after or not self.lose:
            self.after = max(0, self.after - 1)
            return False
        self.lose -= 1
        self.lost += 1
        return True

    async def hang_up(self) -> None:
        for line in tuple(self._lines):
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)


@asynccontextmanager
async def lossy(upstream: str, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[LossyProxy, str]]:
    """The proxy and its URL: a unix socket, or with `tls` a port of localhost (`rediss://`)."""
    proxy = LossyProxy(upstream)
    with tempfile.TemporaryDirectory(prefix="lossy-") as folder:
        path = Path(folder) / "proxy.sock"
        if tls is None:
            server = await asyncio.start_unix_server(proxy.serve, path)
            url = f"unix://{path}"
        else:
            server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, ssl=tls)
            url = f"rediss://localhost:{server.sockets[0].getsockname()[1]}/0"
        try:
            yield proxy, url
        finally:
            server.close()
            await proxy.hang_up()
            await server.wait_closed()
