"""Where the sources of runtime/flare can be broken in one of the usual ways.

A Site is one small change of one file. They are found in the text, not in a syntax tree: what does not compile is no
mutant and is not counted. Comments, strings and preprocessor lines hold no site, nor do declarations that only a
compiler reads (static_assert, using, template, annotations).
"""

import pathlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    file: str  # below the root
    line: int  # from 1; the first line that changes
    kind: str
    old: tuple  # the lines as they are
    new: tuple  # and as they become

    def name(self):
        return f"{self.file}:{self.line}:{self.kind}"


# Left alone: the seam's two ends and what aborts, which tests can't see fail, and the model's own switches.
SKIPPED_FILES = ("base/assert", "base/mutants", "base/thread_annotations")
SKIPPED_LINE = re.compile(
    r"^\s*(#|static_assert|using |namespace |template|friend |class |struct |enum |public:|private:|protected:|case )"
    r"|FLARE_MUTANT|FLARE_ASSERT|noexcept\(|= default|= delete|operator[<>=!]")
MODEL_BLOCK = re.compile(r"^\s*if \(FLARE_MUTANT\(.*\{$")

REPLACED = (
    ("comparison", r" < ", (" <= ", " >= ")),
    ("comparison", r" <= ", (" < ",)),
    ("comparison", r" > ", (" >= ", " <= ")),
    ("comparison", r" >= ", (" > ",)),
    ("comparison", r" == ", (" != ",)),
    ("comparison", r" != ", (" == ",)),
    ("logic", r" && ", (" || ",)),
    ("logic", r" \|\| ", (" && ",)),
    ("logic", r"(?<=[( ])!(?=[a-z_])", ("",)),
    ("off by one", r" \+ 1(?=[ ;),\]])", (" + 0", " + 2")),
    ("off by one", r" - 1(?=[ ;),\]])", (" - 0", " - 2")),
    ("arithmetic", r" \+= ", (" -= ",)),
    ("arithmetic", r" -= ", (" += ",)),
    ("arithmetic", r" % ", (" / ",)),
    ("order", r"memory_order_(acquire|release|acq_rel|seq_cst)", ("memory_order_relaxed",)),
    ("order", r"MemoryOrder::k(Acquire|Release|AcqRel|SeqCst)", ("MemoryOrder::kRelaxed",)),
    ("constant", r"\btrue\b(?=[;,)])", ("false",)),
    ("constant", r"\bfalse\b(?=[;,)])", ("true",)),
)
LOCK = re.compile(r"^\s+(const )?(LockGuard|UniqueLock|MutexLock|std::lock_guard<[^>]*>) \w+[({].*[)}];$")
CALL = re.compile(r"^\s+(?!return\b|throw\b|delete\b|co_)[A-Za-z_][\w:.>\-\[\]]*(\(.*\))+;$")
ASSIGNMENT = re.compile(r"^\s+[a-z_][\w.>\-\[\]]*(?<=[_\w\]]) [-+|&]?= [^=].*;$")
STEP = re.compile(r"^\s+(\+\+|--)[\w.>\-\[\]]+;$")
STATISTIC = re.compile(r"\.add\(.*\);$")
CONTAINER = re.compile(r"^\s+([a-z_][\w.>\-]*)\.(clear|reserve|resize|assign|push_back|emplace_back|pop_back|swap)\(.*\);$")
WAKE = re.compile(r"wake|ring|notify|signal")


def blanked(text):
    """The text with comments and the insides of literals replaced by blanks, column for column."""
    pattern = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def is_statement(line):
    return bool(CALL.match(line) or STEP.match(line) or ASSIGNMENT.match(line))


def dropped_kind(line):
    if LOCK.match(line):
        return "dropped lock"
    if CALL.match(line) and WAKE.search(line):
        return "dropped wake"
    return "dropped statement" if is_statement(line) else None


def written(line):
    """What a statement changes and nothing else: a variable or a container; None where a call may do anything."""
    if ASSIGNMENT.match(line):
        return re.split(r" [-+|&]?= ", line, maxsplit=1)[0].strip()
    if STEP.match(line):
        return line.strip().strip("+-;")
    container = CONTAINER.match(line)
    return container.group(1) if container else None


def swapped(line):
    """The other one of a.swap(other): changed as well."""
    found = re.search(r"\.swap\(([\w.]+)\);$", line)
    return found.group(1) if found else None


def independent(one, two):
    """Whether the order of two statements is nobody's to see: a statistic, or two changes of different things."""
    if STATISTIC.search(one) or STATISTIC.search(two):
        return one.strip() != two.strip()
    changed = [(written(one), two), (written(two), one), (swapped(one) or "?", two), (swapped(two) or "?", one)]
    return all(what is not None and not names(other, what) for what, other in changed)


def names(line, what):
    return re.search(rf"(?<![\w.>]){re.escape(what)}(?!\w)", line) is not None


def replacements(path, number, raw, code):
    for kind, pattern, news in REPLACED:
        for match in re.finditer(pattern, code):
            for new in news:
                changed = raw[: match.start()] + new + raw[match.end():]
                yield Site(path, number, kind, (raw,), (changed,))


def sites_of(root, path):
    raw = (root / path).read_text().split("\n")
    code = blanked("\n".join(raw)).split("\n")
    model_only = None  # the indent of a block that only the model build enters
    for index, line in enumerate(code):
        indent = line[: len(line) - len(line.lstrip())]
        if MODEL_BLOCK.match(line):
            model_only = indent
        elif model_only is not None and line.startswith(model_only + "}"):
            model_only = None
        if model_only is not None or SKIPPED_LINE.search(raw[index]) or not line.strip():
            continue
        yield from replacements(path, index + 1, raw[index], line)
        # A statement that goes on from the line before is not whole; neither is one without its braces.
        before = code[index - 1].rstrip() if index else ""
        if before and before[-1] not in ";{}:":
            continue
        kind = dropped_kind(line)
        if kind is None:
            continue
        yield Site(path, index + 1, kind, (raw[index],), (indent + ";",))
        after = code[index + 1] if index + 1 < len(code) else ""
        same_indent = after.startswith(indent) and after[len(indent): len(indent) + 1] not in ("", " ")
        whole = same_indent and is_statement(after) and not SKIPPED_LINE.search(raw[index + 1])
        if whole and after != line and not independent(line, after):
            pair = (raw[index], raw[index + 1])
            yield Site(path, index + 1, "swapped neighbours", pair, (pair[1], pair[0]))


def all_sites(root):
    root = pathlib.Path(root)
    found = []
    for file in sorted((root / "runtime/flare").rglob("*")):
        path = str(file.relative_to(root))
        if file.suffix in (".h", ".cpp") and not any(part in path for part in SKIPPED_FILES):
            found += sites_of(root, path)
    return found


def apply(root, site):
    file = pathlib.Path(root) / site.file
    lines = file.read_text().split("\n")
    at = slice(site.line - 1, site.line - 1 + len(site.old))
    assert tuple(lines[at]) == site.old, site.name()
    lines[at] = site.new
    file.write_text("\n".join(lines))


def take_back(root, site):
    apply(root, Site(site.file, site.line, site.kind, site.new, site.old))
