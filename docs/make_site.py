"""Build the documentation site into ``out/site``, warnings as errors, and check it: ``python docs/make_site.py``."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from sitemaker import browsing
from sitemaker.checking import problems
from sitemaker.gather import ROOT, gather
from sitemaker.public import MISSING

SOURCE, MADE, SITE = (ROOT / "out" / name for name in ("site-source", "site-doctrees", "site"))
STAMP = ROOT / "out" / "site-made-by.txt"
"""What the site maker was like when it last made the site without a warning, or began to."""

NOISE = re.compile(r"^\[IPKernelApp\] WARNING \| Kernel is running over TCP|INFO traitlets")
"""What the programs that run the notebooks say of themselves."""


def main() -> None:
    """Gather, build, check. Further words are those of ``sphinx-build``: ``-E`` begins anew."""
    start = time.monotonic()
    begin_anew_if_changed()
    run_notebooks_if_changed()
    gather(SOURCE)
    options = ["-b", "html", "-q", "-W", "--keep-going", "-n", "-j", "2", "-c", str(ROOT / "docs"), "-d", str(MADE)]
    command = [sys.executable, "-m", "sphinx", *options, *sys.argv[1:], str(SOURCE), str(SITE)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    told = [line for line in done.stderr.splitlines() if line and not NOISE.search(line)]
    print(*told, sep="\n", end="\n" if told else "", file=sys.stderr)
    remove_left_over()
    wrong = [*(f"{name} is promised and not there: {error}" for name, error in MISSING.items()), *problems(SITE)]
    browser = None if done.returncode or wrong else browsing.find_browser()
    wrong += browsing.faults(SITE, browser) if browser else []
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    if done.returncode:
        STAMP.unlink(missing_ok=True)  # Sphinx would not read those pages again, and say nothing
    if done.returncode or wrong:
        sys.exit(f"make_site.py: {'warnings, see above' if done.returncode else f'{len(wrong)} faults in the built pages'}")
    pages = sum(1 for _ in SITE.rglob("*.html"))
    seen = f"opened in {Path(browser).name}" if browser else "not opened, for no Chromium with playwright is here"
    print(f"{SITE / 'index.html'}: {pages} pages, links checked, {seen}, in {time.monotonic() - start:.0f} s")


def begin_anew_if_changed() -> None:
    """Forget what was built by another site maker: Sphinx itself looks at the pages alone."""
    docs = ROOT / "docs"
    made_by = [*sorted((docs / "sitemaker").glob("*.py")), docs / "conf.py", *sorted((docs / "_static").iterdir())]
    if is_new(STAMP, made_by):
        for folder in (MADE, SITE):
            shutil.rmtree(folder, ignore_errors=True)


def run_notebooks_if_changed() -> None:
    """Let the notebooks run again where the library has changed: their own text has not, so Sphinx would keep them."""
    if is_new(MADE / "library.txt", sorted((ROOT / "src").rglob("*.py"))):
        shutil.rmtree(SOURCE / "notebooks", ignore_errors=True)


def is_new(stamp: Path, files: list[Path]) -> bool:
    """Whether what these files hold differs from what the stamp recorded earlier; then it is written anew."""
    state = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state:
        return False
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(state, encoding="utf-8")
    return True


def remove_left_over() -> None:
    """Remove pages whose source is gone."""
    for path in SITE.rglob("*.html"):
        name = path.relative_to(SITE).with_suffix("")
        kept = name.parts[0].startswith("_") or str(name) in {"search", "genindex", "py-modindex"}
        if not kept and not any((SOURCE / f"{name}{end}").is_file() for end in (".md", ".rst", ".ipynb")):
            path.unlink()


if __name__ == "__main__":
    main()
