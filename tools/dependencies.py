#!/usr/bin/env python3
"""Holds the dependencies to deny.toml, and writes THIRD-PARTY-NOTICES: the licences of all that is in the program.

Licences and sources are checked for every crate of Cargo.lock that any feature or platform needs; versions, and the
notices, for the program as it is built by default, on any platform.

    python tools/dependencies.py            # check, and write the notices
    python tools/dependencies.py --check    # check, and compare the notices; exit 1 on a difference
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTICES = ROOT / "THIRD-PARTY-NOTICES"
PROGRAM = "facedp-cli"
LICENCE_FILE = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|UNLICENSE|COPYRIGHT)", re.IGNORECASE)
# Old manifests separate alternatives by a slash.
TOKEN = re.compile(r"\(|\)|AND|OR|[A-Za-z0-9.+-]+(?: WITH [A-Za-z0-9.-]+)?")


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def allowed(expression, licences):
    """Whether the licences that are allowed satisfy an SPDX expression."""
    tokens = TOKEN.findall(expression.replace("/", " OR "))

    def either():
        value = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            value = both() or value
        return value

    def both():
        value = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            value = one() and value
        return value

    def one():
        token = tokens.pop(0)
        if token == "(":
            value = either()
            tokens.pop(0)
            return value
        return token in licences

    return either()


def problems(packages, shipped, rules):
    licences, registries = rules["licenses"]["allow"], rules["sources"]["allow-registry"]
    for package in packages:
        name, expression, source = f"{package['name']} {package['version']}", package["license"], package["source"]
        if source is None:
            continue
        if not expression or not allowed(expression, licences):
            yield f"{name}: the licence `{expression}` is not in deny.toml"
        if source not in [f"registry+{registry}" for registry in registries]:
            yield f"{name}: comes from {source}"
    versions = collections.defaultdict(list)
    for package in shipped:
        versions[package["name"]].append(package["version"])
    skipped = {entry["name"] for entry in rules["bans"]["skip"]}
    for name, found in versions.items():
        if len(found) > 1 and name not in skipped:
            yield f"{name}: {len(found)} versions in the program: {', '.join(sorted(found))}"
    for name in skipped - {name for name, found in versions.items() if len(found) > 1}:
        yield f"{name}: deny.toml skips it, but there is one version at most"


def licence_texts(package):
    """The licence files beside a crate's manifest, without differences that mean nothing."""
    folder = pathlib.Path(package["manifest_path"]).parent
    for path in sorted(folder.iterdir()):
        if path.is_file() and LICENCE_FILE.match(path.name) and path.suffix not in (".rs", ".py"):
            text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").replace("\f", "")
            yield "\n".join(line.rstrip() for line in text.strip().splitlines())


def notices(shipped):
    """Every crate with its licence; and then every text once, with the crates that carry it."""
    texts, carriers = {}, collections.defaultdict(list)
    lines = ["The program facedp contains the crates below, under these licences. tools/dependencies.py writes this file.",
             "The neural networks inside the program have licences of their own: assets/README.md and assets/networks.md.", ""]
    for package in shipped:
        name = f"{package['name']} {package['version']}"
        lines.append(f"{name}: {package['license']}" + (f" ({package['repository']})" if package["repository"] else ""))
        for text in licence_texts(package):
            words = " ".join(text.split()).lower()
            texts.setdefault(words, text)
            if name not in carriers[words]:
                carriers[words].append(name)
    for words, text in texts.items():
        lines += ["", "=" * 80, "Of " + ", ".join(carriers[words]) + ":", "", text]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    packages = json.loads(cargo("metadata", "--locked", "--all-features", "--format-version", "1"))["packages"]
    tree = cargo("tree", "--locked", "-p", PROGRAM, "-e", "normal", "--target", "all", "--prefix", "none", "--format", "{p}")
    names = {tuple(line.split(" (")[0].split(" v")[:2]) for line in tree.splitlines() if line}
    shipped = [package for package in packages if package["source"] and (package["name"], package["version"]) in names]
    shipped.sort(key=lambda package: (package["name"], package["version"]))
    found = list(problems(packages, shipped, rules))
    text = notices(shipped)
    if not options.check:
        NOTICES.write_text(text)
    elif not NOTICES.exists() or NOTICES.read_text() != text:
        found.append("THIRD-PARTY-NOTICES differs: run tools/dependencies.py")
    for line in found:
        print(line)
    print(f"{len(packages)} crates checked, {len(shipped)} of them in the program, {len(found)} problems")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
