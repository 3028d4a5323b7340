"""How do several processes share work whose results stay in order?"""

import collections
import concurrent.futures
import ctypes
import itertools
import multiprocessing
import os
import signal

from bad_input import BadInput

ITEMS_AT_ONCE = 64
MOST_JOBS = 8  # where none are given; one process reads and writes for all
PR_SET_PDEATHSIG = 1  # linux/prctl.h

work_here = None  # in a process that works for another


def usual_jobs():
    return min(MOST_JOBS, len(os.sched_getaffinity(0)))


def in_order(work, items, jobs):
    """work(item) of each item, in their order, and then what `items` throws. Few items are worked
    on in this process."""
    chunks = _chunks(items)
    first = next(chunks, [])
    if jobs > 1 and len(first) == ITEMS_AT_ONCE:
        yield from _by_processes(work, itertools.chain([first], chunks), jobs)
        return
    for chunk in itertools.chain([first], chunks):
        yield from map(work, chunk)


def _chunks(items):
    iterator = iter(items)
    while True:
        chunk, error = [], None
        try:
            for item in itertools.islice(iterator, ITEMS_AT_ONCE):
                chunk.append(item)
        except Exception as caught:
            error = caught
        if chunk:
            yield chunk
        if error is not None:
            raise error
        if len(chunk) < ITEMS_AT_ONCE:
            return


def _by_processes(work, chunks, jobs):
    global work_here
    work_here = work  # processes begin as copies of this one
    pool = concurrent.futures.ProcessPoolExecutor(
        jobs, multiprocessing.get_context("fork"), _begin
    )
    pending, error = collections.deque(), None
    try:
        while True:
            try:
                chunk = next(chunks, None)
            except Exception as caught:
                chunk, error = None, caught
            if chunk is not None:
                pending.append(pool.submit(_all_of, chunk))
            while pending and (chunk is None or len(pending) > 2 * jobs):
                yield from pending.popleft().result()
            if chunk is None:
                break
    except concurrent.futures.process.BrokenProcessPool:
        raise BadInput(
            "the system ended one of the processes, perhaps for lack of memory; give fewer --jobs"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)
    if error is not None:
        raise error


def _begin():
    """Ctrl-C is for the process that this one works for, and so is its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _all_of(chunk):
    return [work_here(item) for item in chunk]
