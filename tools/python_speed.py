#!/usr/bin/env python3
"""What calls from Python cost, and what a second thread gives. Needs facedp and an idle machine with two cores.

    python tools/python_speed.py

Overhead: the time of a call divided by that of the engine inside it, from decoding to the last check. Threads: photos a
second with two threads and one engine, divided by those with one thread; both in turn, in one run.
"""

import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

import facedp

PHOTOS = Path(__file__).resolve().parent.parent / "examples" / "photos"
NOISE = dict(method="rdp-optimal", epsilon=0.01, check="off")
ROUNDS = 5


def photos():
    """Kinds of pictures: a file and its pixels, whole and small."""
    with Image.open(PHOTOS / "collins.jpg") as image:
        large, small = np.asarray(image), np.asarray(image.resize((250, 250)))
    return {
        "file, 512x512": (PHOTOS / "collins.jpg").read_bytes(),
        "array, 512x512": large,
        "array, 250x250": small,
    }


def overhead(engine, picture, calls):
    """The largest ratio of three rounds' medians, and the median time of a call."""
    ratios, seconds = [], []
    for _ in range(calls):
        start = time.perf_counter()
        result = engine.protect(picture)
        spent = time.perf_counter() - start
        seconds.append(spent)
        ratios.append(spent / result.report["seconds"])
    return statistics.median(ratios), statistics.median(seconds)


def rate(engine, picture, threads, count):
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(engine.protect, [picture] * threads))
        start, processor = time.perf_counter(), time.process_time()
        list(pool.map(engine.protect, [picture] * count))
        return count / (time.perf_counter() - start), (time.process_time() - processor) / count


def main():
    methods = {"steered, medium": ({}, 4, 8), "rdp-optimal, no check": (NOISE, 40, 200)}
    for method, (settings, calls, count) in methods.items():
        engine = facedp.Engine(seed=1, **settings)
        for kind, picture in photos().items():
            engine.protect(picture)
            ratio, seconds = overhead(engine, picture, calls)
            print(f"{method}; {kind}: a call {1000 * seconds:.1f} ms, {ratio:.4f} of the engine's time", flush=True)
        picture = photos()["array, 250x250"]
        rounds = []
        for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS):
            rounds.append([rate(engine, picture, threads, count * threads // 2) for threads in (1, 2)])
        gains = [two[0] / one[0] for one, two in rounds]
        (one, cpu_one), (two, cpu_two) = (map(statistics.median, zip(*column)) for column in zip(*rounds))
        print(f"{method}; array, 250x250: {one:.2f} photos/s with one thread, {two:.2f} with two; gain "
              f"{statistics.median(gains):.2f} (median of {len(gains)}: {min(gains):.2f} to {max(gains):.2f}); "
              f"processor time of a photo {1000 * cpu_one:.1f} and {1000 * cpu_two:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
