#!/usr/bin/env python3
"""Rates of a Ray cluster of one and of two nodes on this machine, one core each, beside those of `facedp protect --jobs`.
Needs facedp[ray] and an idle machine with two cores.

    python tools/cluster_speed.py FOLDER              # noise, without the check: little work a photo
    python tools/cluster_speed.py FOLDER --steered    # the default method

Both write the same files, in turn. Two rates are compared: of the whole call (for the cluster, with the start of its workers,
but not of its nodes, which have treated four photos before), and of the last 90 % of the photos, when all are at work.
"""

import argparse
import filecmp
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

NOISE = facedp.Request(method="rdp-optimal", epsilon=0.01, check="off")
NOISE_OPTIONS = ["--method", "rdp-optimal", "--epsilon", "0.01", "--no-check"]


class Watch:
    """When a tenth of the results was there, and when all were."""

    def __init__(self, folder, count):
        self.folder, self.tenth, self.moments = folder, count // 10, [time.monotonic()]
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.over.wait(0.1):
            there = sum(1 for _ in self.folder.glob("*.jpg"))
            if there >= self.tenth and len(self.moments) == 1:
                self.moments.append(time.monotonic())
                self.there = there

    def stop(self):
        """Photos a second of the whole, and of what came after the first tenth."""
        self.over.set()
        self.thread.join()
        end, count = time.monotonic(), sum(1 for _ in self.folder.glob("*.jpg"))
        begun, tenth = self.moments
        return count / (end - begun), (count - self.there) / (end - tenth)


def program(folder, out, count, key, jobs, options):
    watch = Watch(out, count)
    command = [sys.executable, "-m", "facedp", "protect", folder, "-o", out, "--key", key, "--jobs", str(jobs),
               "--no-ledger", "--quiet", *options]
    subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
    return watch.stop()


def cluster(folder, out, count, key, nodes, request):
    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(nodes - 1):
        machines.add_node(num_cpus=1)
    ray.init(address=machines.address, log_to_driver=False)
    try:
        few = sorted(folder.glob("*.jpg"))[:4]
        facedp.ray.protect_dataset(few, out.with_suffix(".first"), request, key=key)
        watch = Watch(out, count)
        done = facedp.ray.protect_dataset(folder, out, request, key=key)
        return watch.stop(), done
    finally:
        ray.shutdown()
        machines.shutdown()


def same(one, other):
    """How many photos of one folder are in the other with the same bytes."""
    names = [path.relative_to(one) for path in one.rglob("*.jpg")]
    return sum(filecmp.cmp(one / name, other / name, shallow=False) for name in names if (other / name).exists()), len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steered", action="store_true")
    parser.add_argument("--nodes", type=int, nargs="*", default=[1, 2])
    given = parser.parse_args()
    request, options = (facedp.Request(), []) if given.steered else (NOISE, NOISE_OPTIONS)
    count = sum(1 for _ in given.folder.glob("*.jpg"))
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        key = work / "key"
        subprocess.run([sys.executable, "-m", "facedp", "key", "new", key], check=True, stdout=subprocess.DEVNULL)
        for nodes in given.nodes:
            ours, theirs = work / f"cluster-{nodes}", work / f"program-{nodes}"
            alone = program(given.folder, theirs, count, key, nodes, options)
            rates, done = cluster(given.folder, ours, count, key, nodes, request)
            equal, files = same(theirs, ours)
            whole, later = (ours / theirs for ours, theirs in zip(rates, alone))
            print(f"{nodes} node{'s'[:nodes - 1]}: {rates[0]:.2f} photos/s, later {rates[1]:.2f}; protect --jobs {nodes}: "
                  f"{alone[0]:.2f}, later {alone[1]:.2f}; ratio {whole:.3f}, later {later:.3f} "
                  f"({done.written} written, {done.failed} failed, same bytes {equal} of {files})", flush=True)


if __name__ == "__main__":
    main()
