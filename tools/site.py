#!/usr/bin/env python3
"""Builds the documentation as a site from the Markdown and the notebook that are there, and checks every link in it.
Needs no network.

    python tools/site.py DIR    # needs Python-Markdown: tools/requirements-site.txt

A link that leads nowhere, to a file or to a heading, is a failure.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
from urllib.parse import unquote

import markdown
from markdown.extensions.toc import TocExtension

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRST = ["README.md", "docs/install.md", "docs/python.ipynb", "docs/cluster.md", "SECURITY.md", "docs/decisions.md",
         "docs/reproduction.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
TITLES = {"README.md": "facedp", "docs/install.md": "Installing", "SECURITY.md": "What is claimed"}
STYLE = """
:root { color-scheme: light dark; --soft: #60666c; --line: #d9d6cf; --accent: #0b6e5f; }
@media (prefers-color-scheme: dark) { :root { --soft: #a9aeb4; --line: #363b41; --accent: #5ccab5; } }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: minmax(12rem, 16rem) minmax(0, 52rem); gap: 2rem; padding: 1rem 1.5rem; }
nav { font-size: .9rem; } nav ul { list-style: none; padding: 0; } nav a { color: inherit; text-decoration: none; }
nav [aria-current] { color: var(--accent); font-weight: 600; } a { color: var(--accent); }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid var(--line); border-radius: 8px; font-size: .85rem; }
pre.output { border-left-width: 4px; color: var(--soft); }
img { max-width: 100%; } @media (max-width: 48rem) { body { display: block; } }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{up}style.css"></head>
<body><nav aria-label="Pages"><ul>{links}</ul></nav><main>{body}</main></body></html>
"""
LINK = re.compile(r'(href|src)="([^"]*)"')


def slug(text, separator):
    """The anchor of a heading, as code forges make it."""
    return re.sub(r"[^\w\- ]", "", html.unescape(text).lower()).replace(" ", separator)


def pages():
    listed = subprocess.run(["git", "ls-files", "*.md", "*.ipynb"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = [name for name in listed.split() if not name.startswith(("crates/", "fuzz/", "bindings/"))]
    return FIRST + sorted(set(found) - set(FIRST))


def from_markdown(text):
    return markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists", TocExtension(slugify=slug)])


def from_notebook(text):
    """Cells with the outputs that were saved: text and pictures."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(from_markdown(source))
            continue
        parts.append(f"<pre><code>{html.escape(source)}</code></pre>")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", [])})
            picture = next((kind for kind in data if kind.startswith("image/")), None)
            if picture:
                code = "".join(data[picture]).replace("\n", "")
                parts.append(f'<p><img alt="What the cell shows" src="data:{picture};base64,{code}"></p>')
            else:
                parts.append(f'<pre class="output">{html.escape("".join(data["text/plain"]))}</pre>')
    return "\n".join(parts)


def render(name):
    text = (ROOT / name).read_text()
    body = from_notebook(text) if name.endswith(".ipynb") else from_markdown(text)
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    return TITLES.get(name) or re.sub("<[^>]*>", "", heading[1] if heading else name), body


def address(name):
    return "index.html" if name == "README.md" else name.removesuffix(".md").removesuffix(".ipynb") + ".html"


def main():
    out = pathlib.Path(sys.argv[1])
    names = pages()
    known = {name: render(name) for name in names}
    anchors = {name: set(re.findall(r'id="([^"]*)"', body)) for name, (_, body) in known.items()}
    problems, links, copied = [], 0, set()

    def moved(name, match):
        nonlocal links
        attribute, link = match[1], html.unescape(match[2])
        if re.match(r"[a-z]+:", link):
            return match[0]
        links += 1
        path, _, heading = link.partition("#")
        target = (ROOT / name).parent / unquote(path) if path else ROOT / name
        try:
            target = target.resolve().relative_to(ROOT).as_posix()
        except ValueError:
            target = None
        if target is None or not (ROOT / target).exists():
            problems.append(f"{name}: {link} leads nowhere")
            return match[0]
        if (ROOT / target).is_dir():
            target = f"{target}/README.md" if f"{target}/README.md" in known else target
        if target in known:
            if heading and heading not in anchors[target]:
                problems.append(f"{name}: {link}: no such heading")
            to = address(target)
        elif (ROOT / target).is_file():
            copied.add(target)
            to = target
        else:
            return match[0]
        up = "../" * (address(name).count("/"))
        return f'{attribute}="{html.escape(up + to + ("#" + heading if heading else ""))}"'

    for name, (title, body) in known.items():
        up = "../" * address(name).count("/")
        body = LINK.sub(lambda match: moved(name, match), body)
        items = []
        for other in names:
            here = ' aria-current="page"' if other == name else ""
            items.append(f'<li><a href="{up}{address(other)}"{here}>{html.escape(known[other][0])}</a></li>')
        path = out / address(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(title=html.escape(title), up=up, links="".join(items), body=body))
    for name in copied:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, out / name)
    (out / "style.css").write_text(STYLE)
    for problem in problems:
        print(problem)
    print(f"{len(known)} pages, {len(copied)} files, {links} links checked, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
