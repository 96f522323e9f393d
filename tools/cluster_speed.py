#!/usr/bin/env python3
"""Rates of a Ray cluster of one and of two nodes on this machine, one core each, beside those of `facedp protect --jobs`.
Needs facedp[ray] and an idle machine with two cores.

    python tools/cluster_speed.py FOLDER                         # noise, without the check: little work a photo
    python tools/cluster_speed.py FOLDER --request checked       # noise and the check, as the program does by default
    python tools/cluster_speed.py FOLDER --request steered --photos 100    # the default method

Both write the same files, in turn, for some rounds; each rate is the best of its rounds. Two rates are compared: of the whole
call (for the cluster, with the start of its workers, but not of its nodes, which have treated four photos before), and of the
last 90 % of the photos, when all are at work. The processor time of a photo is that of all processes together: of the workers,
the driver and Ray's own. It says what a cluster costs where other work disturbs the clock.
"""

import argparse
import contextlib
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

import facedp
import facedp.ray

NOISE = {"method": "rdp-optimal", "epsilon": 0.01}
NOISE_OPTIONS = ["--method", "rdp-optimal", "--epsilon", "0.01"]
REQUESTS = {
    "noise": (facedp.Request(check="off", **NOISE), [*NOISE_OPTIONS, "--no-check"]),
    "checked": (facedp.Request(**NOISE), NOISE_OPTIONS),
    "steered": (facedp.Request(), []),
}


def processor_seconds():
    """Of this process and all that it started, those that have ended, too."""
    parents, times = {}, {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1])
            times[int(entry.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def ours(number):
        while number not in (0, os.getpid()):
            number = parents.get(number, 0)
        return number != 0

    return sum(spent for number, spent in times.items() if ours(number))


class Watch:
    """When a tenth of the results was there, and when all were."""

    def __init__(self, folder, count):
        self.folder, self.tenth, self.moments = folder, count // 10, [time.monotonic()]
        self.spent = processor_seconds()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.over.wait(0.2):
            there = sum(1 for _ in self.folder.glob("*.jpg"))
            if there >= self.tenth and len(self.moments) == 1:
                self.moments.append(time.monotonic())
                self.there = there

    def stop(self):
        """Photos a second of the whole, and of what came after the first tenth; processor time of a photo."""
        self.over.set()
        self.thread.join()
        end, count = time.monotonic(), sum(1 for _ in self.folder.glob("*.jpg"))
        begun, tenth = self.moments
        spent = (processor_seconds() - self.spent) / count
        return count / (end - begun), (count - self.there) / (end - tenth), spent


def program(folder, out, count, key, jobs, options):
    watch = Watch(out, count)
    command = [sys.executable, "-m", "facedp", "protect", folder, "-o", out, "--key", key, "--jobs", str(jobs),
               "--no-ledger", "--json", *options]
    subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
    return watch.stop()


@contextlib.contextmanager
def cluster(nodes, first, work, request, key):
    """A cluster that has treated a few photos: its nodes have started, and processes that all runs share."""
    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(nodes - 1):
        machines.add_node(num_cpus=1)
    ray.init(address=machines.address, log_to_driver=False)
    try:
        facedp.ray.protect_dataset(first, work / f"first-{nodes}", request, key=key)
        yield
    finally:
        ray.shutdown()
        machines.shutdown()


def on_cluster(folder, out, count, key, request):
    watch = Watch(out, count)
    done = facedp.ray.protect_dataset(folder, out, request, key=key)
    return watch.stop(), done


def same(one, other):
    """How many photos of one folder are in the other with the same bytes."""
    names = [path.relative_to(one) for path in one.rglob("*.jpg")]
    return sum(filecmp.cmp(one / name, other / name, shallow=False) for name in names if (other / name).exists()), len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--request", choices=REQUESTS, default="noise")
    parser.add_argument("--photos", type=int, help="take only so many")
    parser.add_argument("--nodes", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    request, options = REQUESTS[given.request]
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        photos, key = work / "photos", work / "key"
        photos.mkdir()
        for path in sorted(given.folder.rglob("*.jpg"))[: given.photos]:
            shutil.copy(path, photos)
        count = len(list(photos.iterdir()))
        subprocess.run([sys.executable, "-m", "facedp", "key", "new", key], check=True, stdout=subprocess.DEVNULL)
        for nodes in given.nodes:
            alone, rates = [], []
            with cluster(nodes, sorted(photos.iterdir())[:4], work, request, key):
                for turn in range(given.rounds):
                    ours, theirs = work / f"cluster-{nodes}-{turn}", work / f"program-{nodes}-{turn}"
                    alone.append(program(photos, theirs, count, key, nodes, options))
                    rate, done = on_cluster(photos, ours, count, key, request)
                    rates.append(rate)
                    equal, files = same(theirs, ours)
                    print(f"  {nodes} node{'s'[:nodes - 1]}, round {turn + 1}: whole {rate[0]:.2f} and {alone[-1][0]:.2f} photos/s, "
                          f"later {rate[1]:.2f} and {alone[-1][1]:.2f}, processor time {1000 * rate[2]:.1f} and "
                          f"{1000 * alone[-1][2]:.1f} ms a photo ({done.written} written, {done.failed} failed, "
                          f"same bytes {equal} of {files})", flush=True)
            for number, what in enumerate(["whole", "later"]):
                ray_best, program_best = (max(rate[number] for rate in all_rates) for all_rates in (rates, alone))
                print(f"{given.request}, {nodes} node{'s'[:nodes - 1]}, {what}: best {ray_best:.2f} photos/s; protect --jobs {nodes}: "
                      f"{program_best:.2f}; ratio {ray_best / program_best:.3f}", flush=True)


if __name__ == "__main__":
    main()
