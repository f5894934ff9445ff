"""Checks the built site: every link leads somewhere, nothing is loaded from elsewhere, and every word is known.

    python docs/site/check.py [SITE]

Words are those of the dictionary of pyspellchecker, those in words.txt, and what stands between backticks on a page.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from spellchecker import SpellChecker

HERE = Path(__file__).resolve()
SITE = HERE.parents[2] / "target/docs/site"
# Pages of rustdoc, which checks its own links.
RUST = "rust/"
# Not prose: search results, what Sphinx generates.
UNREAD = {"search.html", "genindex.html", "py-modindex.html"}
SKIPPED = {"script", "style", "code", "pre", "title", "svg", "nav", "dt"}
WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")
VOID = {"meta", "link", "img", "br", "hr", "input", "path", "source", "col", "wbr"}


class Page(HTMLParser):
    """The links and anchors of a page, and the prose of its article: a report that upoe wrote has none."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors, self.prose, self.skipping = [], [], set(), [], []
        self.reading = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if tag == "link" and attrs.get("rel") == "stylesheet":
            self.loads.append(attrs["href"])
        if tag in ("script", "img", "iframe", "source") and attrs.get("src"):
            self.loads.append(attrs["src"])
        if tag == "article" and attrs.get("role") == "main":
            self.reading = True
        if (tag in SKIPPED or self.skipping) and tag not in VOID:
            self.skipping.append(tag)

    def handle_endtag(self, tag):
        if tag == "article":
            self.reading = False
        if self.skipping and tag in self.skipping:
            while self.skipping.pop() != tag:
                pass

    def handle_data(self, data):
        if self.reading and not self.skipping:
            self.prose.append(data)


def broken(page, pages, site):
    """Links and resources of a page that lead nowhere, or elsewhere."""
    folder = page.parent
    for link in pages[page].links + pages[page].loads:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            if link in pages[page].loads and url.scheme != "data":
                yield f"loads {link}, which needs a network"
            continue
        target = (folder / unquote(url.path)).resolve() if url.path else page
        if target.is_relative_to(site / "rust") and not (site / "rust").exists():
            continue  # built without the Rust API
        if not target.is_file():
            yield f"links to {link}, which is not there"
        elif target in pages and url.fragment and unquote(url.fragment) not in pages[target].anchors:
            yield f"links to {link}, which has no such anchor"


def misspelt(pages):
    """Unknown words, with a page on which each stands."""
    known = {line.strip().lower() for line in (HERE.parent / "words.txt").read_text().splitlines()}
    found = {}
    for path, page in pages.items():
        if path.name not in UNREAD:
            for word in WORD.findall(" ".join(page.prose)):
                word = re.sub(r"['’]\w*$", "", word)
                if len(word) > 2 and word.lower() not in known and not word.isupper():
                    found.setdefault(word, path)
    unknown = SpellChecker(distance=1).unknown({word.lower() for word in found})
    return {word: path for word, path in found.items() if word.lower() in unknown}


def main():
    site = Path(sys.argv[1] if len(sys.argv) > 1 else SITE).resolve()
    paths = [path for path in sorted(site.rglob("*.html")) if not str(path.relative_to(site)).startswith(RUST)]
    pages = {path: Page(path.read_text()) for path in paths}
    wrong = [f"{path.relative_to(site)} {problem}" for path in paths for problem in broken(path, pages, site)]
    wrong += [f"{path.relative_to(site)}: unknown word {word!r}" for word, path in sorted(misspelt(pages).items())]
    for problem in wrong:
        print(problem, file=sys.stderr)
    if wrong:
        sys.exit(f"{len(wrong)} problems; words that are right go into docs/site/words.txt")
    print(f"{len(pages)} pages: links lead somewhere, nothing is loaded from elsewhere, all words are known")


if __name__ == "__main__":
    main()
