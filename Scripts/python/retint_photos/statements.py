"""Where a photo's license is stated, and what that says.

The column `stated` of a list has one statement, or several joined by " + ":

    copyright: Files: images/land/*       a paragraph of the package's copyright file
    README: Files: cow.webp               the same in the README nearest to the photo
    PATH: WORDS                           words of another text of the package; " … " leaves out
    metadata: WORDS                       words within the photo's own file
"""

import dataclasses
import fnmatch
import posixpath
import re

FIELD = re.compile(r"([A-Za-z-]+):\s*(.*)")
WEB = re.compile(r"https?://[^\s>`]+")
# Endings of program sources. A paragraph on a folder of these is not about its pictures.
SOURCES = tuple(
    ".c .cc .cpp .cxx .h .hpp .py .js .mjs .ts .qml .pro .java .rb .pl .rs .go .m .sh .php "
    ".lua .hs .tcl".split())
# Endings in a package that has pictures only, with sounds and texts about them.
MEDIA = tuple(
    ".png .jpg .jpeg .webp .svg .svgz .gif .ogg .wav .txt .dat .json .desktop .gz".split())
# How texts that have no field for a license spell it, and its name in the list.
SPELLINGS = [
    (r"CC[- ]BY(-SA)?[- ](\d\.\d)", r"CC-BY\1-\2"), (r"/licenses/by()/(\d\.\d)", r"CC-BY-\2"),
    (r"\bCC0\b", "CC0-1.0"), (r"public domain", "public-domain"),
    (r"\b(L?GPL)v(\d)\b", r"\1-\2"), (r"\b(GNU-)?FDL\b", "GFDL"), (r"\bGPL\b", "GPL"),
]


@dataclasses.dataclass
class Paragraph:
    """What a copyright file says about files."""
    patterns: list
    license: str
    copyright: str
    source: str


def normal(license):
    """A license's name as in SPDX or Debian's copyright files, whatever a README calls it."""
    name = license.splitlines()[0].strip() if license.strip() else ""
    if re.fullmatch("public domain", name, re.IGNORECASE):
        return "public-domain"
    name = re.sub(r"^(CC-BY(?:-SA)?) (\d)", r"\1-\2", name)
    name = re.sub(r"^(L?GPL)v(\d\+?)$", r"\1-\2", name)
    return {"CC0": "CC0-1.0", "cc-by-sa-3.0": "CC-BY-SA-3.0"}.get(name, name)


def paragraphs(text):
    """The paragraphs of a copyright file, or of a README in that form, that have files."""
    for block in re.split(r"\n[ \t]*\n", text):
        fields, key = {}, None
        for line in block.splitlines():
            match = None if line[:1] in (" ", "\t") else FIELD.match(line)
            if match:
                key = match[1].lower()
                fields[key] = match[2]
            elif key:
                fields[key] += "\n" + line.strip()
        if "files" in fields and "license" in fields:
            about = " ".join(fields.get(k, "") for k in ("source", "comment"))
            web = WEB.search(about)
            yield Paragraph(fields["files"].replace(",", " ").split(), normal(fields["license"]),
                            fields.get("copyright", ""), web[0].rstrip(".,)") if web else "-")


def covers(pattern, path):
    """How well a pattern of the source tree names an installed file: 2, 1 or, if not at all, 0.

    Packages install parts of the source tree under other folders. So the whole pattern may name
    the end of the path (2), or the end of the pattern: its name without wildcards, or a folder and
    what is in it (1).
    """
    parts, wanted = path.split("/"), pattern.removeprefix("./").rstrip("/").split("/")
    ends = ["/".join(parts[i:]) for i in range(len(parts))]
    for start in range(len(wanted)):
        tail = "/".join(wanted[start:])
        if start and "/" not in tail and set("*?") & set(tail):
            break
        if any(fnmatch.fnmatchcase(end, tail) or end.startswith(tail + "/") for end in ends):
            return 1 if start else 2
    return 0


def catch_all(pattern):
    return pattern in ("*", "./*", "debian/*")


def is_collection(package):
    """Whether a package has nothing but pictures, sounds, and texts about them."""
    about = (f"usr/share/doc/{package.name}", "usr/share/lintian/overrides")
    return all(posixpath.dirname(f) in about or f.lower().endswith(MEDIA) for f in package.files)


def applies(pattern, package):
    """Whether a paragraph on a pattern is about pictures rather than about a program."""
    if catch_all(pattern):
        return is_collection(package)
    if not set("*?") & set(pattern):
        return True
    matched = [f for f in package.files if covers(pattern, f)]
    return 10 * sum(f.endswith(SOURCES) for f in matched) <= len(matched)


def last_paragraph(text, path):
    """The last paragraph about a file, and its pattern.

    A paragraph whose whole pattern names the file counts before one whose pattern's end does; one
    for all files counts if there is no other.
    """
    best, found = 0, None
    for paragraph in paragraphs(text):
        for pattern in paragraph.patterns:
            match = 0.5 if pattern == "*" else 0 if catch_all(pattern) else covers(pattern, path)
            if match and match >= best:
                best, found = match, (paragraph, pattern)
    return found


def readme(package, path):
    """The README nearest to a photo: its text and path."""
    folder = posixpath.dirname(path)
    while folder:
        if text := package.text(f"{folder}/README"):
            return text, folder
        folder = posixpath.dirname(folder)
    return None, None


def spelled(words):
    """The license that words name first; None if they name none."""
    found = [(match.start(), match.expand(name)) for form, name in SPELLINGS
             if (match := re.search(form, words, re.IGNORECASE))]
    return min(found)[1] if found else None


class Unstated(Exception):
    """A statement that the package does not make."""


def in_paragraphs(document, pattern, package, path, joined):
    """The paragraph that a statement "copyright:" or "README: Files: …" names."""
    if document == "copyright":
        text, name = package.copyright(), path
    else:
        text, folder = readme(package, path)
        name = path.removeprefix(f"{folder}/")
    if text is None:
        raise Unstated(f"the package has no {document}")
    paragraph, last = last_paragraph(text, name) or (None, None)
    if last != pattern:
        raise Unstated(f"the last paragraph of {document} about it is Files: {last}")
    if not joined and not applies(pattern, package):
        raise Unstated(f"Files: {pattern} is about a program, not about its pictures")
    return paragraph


def in_words(document, words, package, row):
    """Checks that a text of the package, or the photo's own file, has the words."""
    if document == "metadata":
        found = words.encode() in (package.bytes(row["path"]) or b"")
    else:
        found = has_in_order(squeezed(package.text(document) or ""), words.split(" … "))
    if not found:
        raise Unstated(f"{document} does not say: {words}")


def squeezed(text):
    return re.sub(r"[\s`]+", " ", text)


def has_in_order(text, parts):
    at = 0
    for part in parts:
        at = text.find(squeezed(part), at)
        if at < 0:
            return False
        at += len(part)
    return True


def stated(row, package):
    """The license and the web address that the package states for a photo of the list.

    Throws `Unstated` if the package does not say what the column `stated` quotes.
    """
    path = package.path_within(row["path"])
    license, source = None, "-"
    statements = row["stated"].split(" + ")
    for statement in statements:
        document, _, words = statement.partition(": ")
        if words.startswith("Files: "):
            pattern = words.removeprefix("Files: ")
            paragraph = in_paragraphs(document, pattern, package, path, len(statements) > 1)
            license, source = license or paragraph.license, paragraph.source
        else:
            in_words(document, words, package, row)
            license = spelled(words) or license
            if web := [w for w in WEB.findall(words) if "creativecommons.org" not in w]:
                source = web[-1]
    return license, source
