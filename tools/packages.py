#!/usr/bin/env python3
"""Packs all crates as `cargo publish` would, and holds them to what the registry takes.

    python tools/packages.py                  # pack; a crate over 10 MiB or without its metadata is a failure
    python tools/packages.py --install DIR    # also unpack them into DIR and install the program from there alone
"""

import argparse
import pathlib
import json
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_BYTES = 10 * 1024 * 1024
# Published as a wheel.
WHEEL = "facedp-python"
NEEDED = ["description", "license", "readme", "rust_version"]


def cargo(*arguments, **options):
    return subprocess.run(["cargo", *arguments], check=True, text=True, **options)


def pack():
    """The crates of the workspace, packed without building them."""
    metadata = json.loads(cargo("metadata", "--locked", "--no-deps", "--format-version", "1", cwd=ROOT,
                                capture_output=True).stdout)
    packages = [package for package in metadata["packages"] if package["name"] != WHEEL]
    cargo("package", "--locked", "--workspace", "--exclude", WHEEL, "--no-verify", "--allow-dirty", "--quiet", cwd=ROOT)
    folder = pathlib.Path(metadata["target_directory"]) / "package"
    for package in packages:
        missing = [field for field in NEEDED if not package[field]]
        if missing or package["publish"] == []:
            sys.exit(f"{package['name']}: cannot be published: {', '.join(missing) or 'publish = false'}")
        yield package["name"], folder / f"{package['name']}-{package['version']}.crate"


def install(crates, folder):
    """Installs the program from unpacked packages; what they need of each other comes from there, too."""
    folder.mkdir(parents=True)
    patches = ["[patch.crates-io]"]
    for name, path in crates:
        with tarfile.open(path) as archive:
            archive.extractall(folder / "packages", filter="data")
        patches.append(f'{name} = {{ path = "{folder}/packages/{path.stem}" }}')
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text("\n".join(patches) + "\n")
    program = next(path.stem for name, path in crates if name == "facedp-cli")
    cargo("install", "--path", f"packages/{program}", "--root", "installed", cwd=folder)
    subprocess.run([folder / "installed/bin/facedp", "--version"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    crates = list(pack())
    for name, path in sorted(crates):
        size = path.stat().st_size
        print(f"{size:>11,}  {name}")
        if size > MAX_BYTES:
            sys.exit(f"{name}: {size:,} bytes; the registry takes {MAX_BYTES:,}")
    print(f"{len(crates)} crates packed, each under {MAX_BYTES:,} bytes")
    if options.install:
        install(crates, options.install.resolve())


if __name__ == "__main__":
    main()
