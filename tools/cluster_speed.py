#!/usr/bin/env python3
"""Rates of a Ray cluster of one and of two nodes on this machine, one core each, beside those of `facedp protect --jobs`.
Needs facedp[ray] and an idle machine with two cores.

    python tools/cluster_speed.py FOLDER              # noise, without the check: little work a photo
    python tools/cluster_speed.py FOLDER --steered    # the default method

Both write the same files, in turn. The cluster's time is that of `protect_dataset`, with the start of its workers; the program's
is that of the whole run. Nodes are started before.
"""

import argparse
import filecmp
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

import facedp
import facedp.ray

NOISE = facedp.Request(method="rdp-optimal", epsilon=0.01, check="off")
NOISE_OPTIONS = ["--method", "rdp-optimal", "--epsilon", "0.01", "--no-check"]


def program(folder, out, key, jobs, options):
    start = time.monotonic()
    command = [sys.executable, "-m", "facedp", "protect", folder, "-o", out, "--key", key, "--jobs", str(jobs),
               "--no-ledger", "--quiet", *options]
    subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def cluster(folder, out, key, nodes, request):
    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(nodes - 1):
        machines.add_node(num_cpus=1)
    ray.init(address=machines.address, log_to_driver=False)
    try:
        return facedp.ray.protect_dataset(folder, out, request, key=key)
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
    count = sum(1 for _ in given.folder.rglob("*.jpg"))
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        key = work / "key"
        subprocess.run([sys.executable, "-m", "facedp", "key", "new", key], check=True, stdout=subprocess.DEVNULL)
        for nodes in given.nodes:
            ours, theirs = work / f"cluster-{nodes}", work / f"program-{nodes}"
            alone = program(given.folder, theirs, key, nodes, options)
            done = cluster(given.folder, ours, key, nodes, request)
            equal, files = same(theirs, ours)
            print(f"{nodes} node{'s'[:nodes - 1]}: {count / done.seconds:.1f} photos/s in {done.seconds:.1f} s "
                  f"({done.written} written, {done.failed} failed); protect --jobs {nodes}: {count / alone:.1f} photos/s in "
                  f"{alone:.1f} s; ratio {alone / done.seconds:.3f}; same bytes {equal} of {files}", flush=True)


if __name__ == "__main__":
    main()
