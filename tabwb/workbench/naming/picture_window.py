"""The participant's picture in its own window, outside of the terminal.

    python -m tabwb.workbench.naming.picture_window FILE

It shows the file that the workbench writes for the speaker's view (:mod:`.pictures`), on white, as
large as the screen. It needs Tk (``python3-tk`` on Debian) and a display; it prints ``ready`` when
it can be seen, or ends with the reason. F11 leaves and takes the full screen, esc or q closes it.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.records import system
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.system import child_environ
from tabwb.workbench.shell.pictures import fitted, read_picture

if TYPE_CHECKING:
    import tkinter

LOOK_MS = 30
"""Milliseconds between two reads of the file; a latency measured with it is later by as much."""
MARGIN = 0.04
"""Share of the window on each side that stays white."""
END_S = 3.0


def drawn(picture: bytes, width: int, height: int) -> bytes:
    """Return a picture on white as large as it fits into a window, as a PPM file."""
    from PIL import Image

    image = Image.fromarray(read_picture(picture))
    room = max(int(width * (1 - 2 * MARGIN)), 1), max(int(height * (1 - 2 * MARGIN)), 1)
    made = io.BytesIO()
    image.resize(fitted(image.width, image.height, *room), Image.Resampling.LANCZOS).save(
        made, "PPM"
    )
    return made.getvalue()


class PictureWindow:
    """The process that shows the window; started from the workbench."""

    def __init__(self, path: Path) -> None:
        self._process = system.start(
            system.python(__name__, str(path)),
            child_environ(os.environ),
            stdout=system.PIPE,
            stderr=system.PIPE,
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        if self._process.stdout.readline().strip() != b"ready":
            said = self._process.stderr.read().decode(errors="replace").strip().splitlines()
            self._process.wait()
            raise ComponentError(
                "the picture window cannot be opened" + (f": {said[-1]}" if said else ""),
                hint="it needs Tk and a display; f shows the picture in the terminal",
            )

    @property
    def is_open(self) -> bool:
        """Whether the window is still open."""
        return self._process.poll() is None

    def close(self) -> None:
        """Close the window."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)


class _Viewer:
    """The window, in its own process."""

    def __init__(self, root: tkinter.Tk, path: Path) -> None:
        import tkinter

        self._root, self._path = root, path
        self._parent = os.getppid()
        self._shown: tuple[bytes, int, int] = b"", 0, 0
        self._image: tkinter.PhotoImage | None = None
        root.title("tabwb")
        root.configure(background="white", cursor="none")
        root.geometry(f"{root.winfo_screenwidth()}x{root.winfo_screenheight()}+0+0")
        root.attributes("-fullscreen", True)
        self._label = tkinter.Label(root, background="white", borderwidth=0)
        self._label.pack(expand=True)
        for key in ("<Escape>", "q"):
            root.bind(key, lambda event: root.destroy())
        root.bind("<F11>", self._turn)
        self._look()

    def _turn(self, event: object) -> None:
        full = not self._root.attributes("-fullscreen")
        self._root.attributes("-fullscreen", full)
        if not full:
            self._root.geometry("800x600+40+40")

    def _look(self) -> None:
        import tkinter

        if os.getppid() != self._parent:
            self._root.destroy()  # the workbench has ended
            return
        picture = b""
        with suppress(OSError):  # nothing is administered
            picture = self._path.read_bytes()
        now = picture, self._root.winfo_width(), self._root.winfo_height()
        if now != self._shown:
            self._shown, self._image = now, None
            with suppress(TabwbError):  # the workbench says what is wrong with it
                if picture:
                    self._image = tkinter.PhotoImage(data=drawn(*now))
            self._label.configure(image=self._image or "")
        self._root.after(LOOK_MS, self._look)


def main() -> None:
    """Show the window until it is closed, or the workbench ends."""
    try:
        import tkinter

        root = tkinter.Tk()
    except ImportError as error:
        raise SystemExit(f"Tk is not installed ({error})") from None
    except tkinter.TclError as error:
        raise SystemExit(str(error)) from None
    _Viewer(root, Path(sys.argv[1]))
    root.update()
    print("ready", flush=True)
    root.mainloop()


if __name__ == "__main__":
    main()
