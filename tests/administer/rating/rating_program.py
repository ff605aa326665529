"""Ten raters, a process each, who rate one set in one store at once."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable
from itertools import count

from tabwb.administer.rating.session import Draft, RaterSession
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.records.errors import StoreError
from tabwb.records.rating_sets import Answer
from tabwb.store.store import Store


def opinion(rater: str, sample: int) -> dict[str, Answer]:
    """Return what a rater says of a sample."""
    number = int(rater[1:])
    return {"jargon": float((number + sample) % 2), "anomia": float((number * sample) % 5)}


def say(words: str) -> None:
    """Print a line in one piece."""
    os.write(1, f"{words}\n".encode())


def work(
    location: str, plugins: Plugins, name: str, rater: str, begin: Callable[[], object]
) -> None:
    """Rate every sample: one answer, then the next, then done; after a failure the same again."""
    with Store.open(location) as store:
        clock = count(0.0, 10.0).__next__  # nobody is too fast
        session = RaterSession.open(store, plugins, name, rater, clock=clock)
        say(f"STARTED {rater}")
        begin()
        told = False
        while (shown := session.shown) is not None:
            said = opinion(rater, int(shown.text.rpartition(" ")[2]))
            try:
                for measure, answer in said.items():
                    session.answer(measure, answer)
                session.finish(Draft(said))
            except StoreError as error:
                if not told:
                    say(f"TOLD {rater} {error.message}")
                told = True
                time.sleep(0.05)
            else:
                told = False
        session.close()
    say(f"DONE {rater}")


def main() -> int:
    """Fork a process for each rater, let all begin when the last has started; return failures."""
    location, name, *raters = sys.argv[1:]
    plugins = Plugins.load(Configuration())
    (started, tell), (wait, go) = os.pipe(), os.pipe()

    def begin() -> None:
        os.write(tell, b".")
        os.read(wait, 1)  # until the parent closes the other end

    children = []
    for rater in raters:
        child = os.fork()
        if child == 0:
            failed = False
            try:
                os.close(go)
                work(location, plugins, name, rater, begin)
            except BaseException:  # noqa: BLE001 - a forked process ends here
                failed = True
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(failed)
        children.append(child)
    os.close(tell)
    for _ in raters:
        os.read(started, 1)
    os.close(go)
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


if __name__ == "__main__":
    raise SystemExit(main())
