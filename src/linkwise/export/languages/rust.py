"""Rust without the standard library's allocations: functions on arrays by reference."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy.typing as npt

from linkwise.export.language import LANGUAGES, ROWS, Job, RowLanguage, Sources, decimal, language, special
from linkwise.export.ports import inputs, operations_text, outputs, placed, printable_ascii
from linkwise.export.samples import samples
from linkwise.export.split import TapePart
from linkwise.kernel.tape import Tape

_WORDS = """
as async await break const continue crate dyn else enum extern false fn for gen if impl in let loop match mod move mut
pub ref return self Self static struct super trait true type unsafe use where while abstract become box do final macro
override priv try typeof unsized virtual yield union raw safe u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f16
f32 f64 f128 bool char str String Vec Option Some None Ok Err Box core std alloc libm main sin cos sqrt abs atan2
tests test
"""

#: Why a test is not run.
UNTOLD = "at its points no result is a number, or rounding decides which"

_HEAD = """//! Made by Linkwise. Needs no allocation and keeps nothing between calls. Sines, cosines and roots are those of
//! std; with the feature `libm` those of the crate libm, for crates without std.
#![allow(non_snake_case, clippy::all, clippy::excessive_precision)]
"""

_NEAR = """    #[allow(unused_imports)]
    use std::convert::TryInto; // for editions before 2021

    fn near(found: &[{real}], wanted: &[f64], allowed: &[f64]) {{
        for ((&x, &y), &off) in found.iter().zip(wanted).zip(allowed) {{
            let x = f64::from(x);
            let same = x == y || (x.is_nan() && y.is_nan()) || off.is_infinite() || (x - y).abs() <= off;
            assert!(same, "{{}} is not {{}} to {{}}", x, y, off);
        }}
    }}
"""


@language
class Rust(RowLanguage):
    """Rust; reserved are the keywords of all editions, primitive types, and names of the prelude that are in use."""

    name = "rust"
    suffix = ".rs"
    reserved = frozenset(_WORDS.split())
    options = frozenset({"precision", "prefix", "self_test", "titles", "points"})
    operations: ClassVar[Mapping[str, str]] = {
        "sqrt": "sqrt({})",
        "sin": "sin({})",
        "cos": "cos({})",
        "abs": "abs({})",
        "sign": "sign_of({})",
        "atan2": "plane_angle({}, {})",
        "select": "if {} > 0.0 {{ {} }} else {{ {} }}",
    }
    functions: ClassVar[Mapping[str, str]] = {"sqrt": "sqrt", "sin": "sin", "cos": "cos", "abs": "fabs", "atan2": "atan2"}
    """What is taken from std or, with the feature libm, from the crate libm, under its name there."""
    helpers: ClassVar[Mapping[str, str]] = {
        "sign": """fn sign_of(x: <real>) -> <real> {
    if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x }
}
""",
        "atan2": """/// The angle of the point (x, y), in which no zero has a sign.
fn plane_angle(y: <real>, x: <real>) -> <real> {
    if y.is_infinite() && x.is_infinite() { <real>::NAN } else { atan2(y + 0.0, x + 0.0) }
}
""",
    }
    types: ClassVar[Mapping[str, str]] = {"double": "f64", "single": "f32"}
    taken = ("sign_of", "plane_angle", "near", "row")
    local = "let {name}: {real} = {value};"
    unused = "let _ = {};"
    room = "let mut {name} = [0.0; {size}];"
    outward = "&mut {}"
    inward = "&{}"

    def function(self, part: TapePart, job: Job) -> str:
        """Write one function, with its comment."""
        (ports, lines), tape = self.inside(part, job), part.tape
        arguments = [f"{ports[port.name]}: &[{job.real}; {port.size}]" for port in inputs(tape)]
        arguments += [f"{ports[f'-> {port.name}']}: &mut [{job.real}; {port.size}]" for port in outputs(tape)]
        line = f"pub fn {part.name}({', '.join(arguments)}) {{"
        head = line if len(line) <= 100 else f"pub fn {part.name}(\n    " + ",\n    ".join(arguments) + ",\n) {"
        return _comment(part, ports) + f"{head}\n" + "".join(f"    {text}\n" for text in lines) + "}\n"

    def text(self, job: Job) -> str:
        """The module, with its unit tests."""
        texts = [_HEAD, *self._mathematics(job), *self.helpers_of(job), *(self.function(part, job) for part in job.parts)]
        return "\n".join([*texts, *([self._tests(job)] if job.options.self_test else [])])

    def files(self, job: Job) -> Sources:
        """The module."""
        name = job.options.name
        test = f"rustc --edition 2021 --test {name}.rs -o {name}_test && ./{name}_test"
        command = test if job.options.self_test else f"rustc -O --crate-type lib {name}.rs"
        return Sources({f"{name}.rs": self.text(job)}, {tape.name: tape.operations for tape in job.tapes}, command)

    def _mathematics(self, job: Job) -> list[str]:
        real, f, texts = job.real, "" if job.options.precision == "double" else "f", []
        for op, other in ((op, other) for op, other in self.functions.items() if op in job.operations):
            std, values = (f"x.{op}()", "x") if op != "atan2" else (f"y.{op}(x)", "y, x")
            parameters = ", ".join(f"{name}: {real}" for name in values.split(", "))
            for feature, value in (('not(feature = "libm")', std), ('feature = "libm"', f"libm::{other}{f}({values})")):
                texts.append(f"#[cfg({feature})]\nfn {op}({parameters}) -> {real} {{\n    {value}\n}}\n")
        return texts

    def _tests(self, job: Job) -> str:
        texts = ["#[cfg(test)]\nmod tests {\n    use super::*;", _NEAR.format(real=job.real)]
        for tape in job.tapes:
            drawn = samples(tape, ROWS, job.options.precision, points=job.options.points)
            called = job.called[tape.name]
            test, lines = job.names.new(f"{called}_test"), [f"const GIVEN: [[{job.real}; {tape.input_count}]; {ROWS}] = ["]
            lines += [*_rows(drawn.inputs.tolist(), job.options.precision), "];"]
            for name, table in (("WANTED", drawn.wanted), ("ALLOWED", 1.01 * drawn.allowed)):
                size = f"[[f64; {len(tape.results)}]; {ROWS}]"
                lines += [f"const {name}: {size} = [", *_rows(table.tolist(), "double"), "];"]
            lines.append(f"for row in 0..{ROWS} {{")
            ports = placed(inputs(tape))
            arguments = [f"GIVEN[row][{first}..{first + port.size}].try_into().unwrap()" for first, port in ports]
            compare = []
            for k, (first, port) in enumerate(placed(outputs(tape))):
                lines.append(f"    let mut made{k}: [{job.real}; {port.size}] = [0.0; {port.size}];")
                arguments.append(f"&mut made{k}")
                some = f"[row][{first}..{first + port.size}]"
                compare.append(f"    near(&made{k}, &WANTED{some}, &ALLOWED{some});")
            lines += [f"    {called}({', '.join(arguments)});", *compare, "}"]
            ignored = "" if drawn.tell else f'    #[ignore = "{UNTOLD}"]\n'
            texts += [f"    #[test]\n{ignored}    fn {test}() {{", *(f"        {line}" for line in lines), "    }\n"]
        return "\n".join([*texts, "}", ""])


def to_rust(
    tapes: Tape | Sequence[Tape],
    *,
    precision: str = "double",
    prefix: str = "",
    self_test: bool = True,
    titles: Mapping[str, str] | None = None,
    points: Mapping[str, npt.ArrayLike] | None = None,
) -> str:
    """Write tapes as Rust: ``pub fn NAME(q: &[f64; 6], ..., tau: &mut [f64; 6])``, for one configuration a call.

    The file is a module. Its unit tests (``rustc --edition 2021 --test``, or cargo's) compare with the gufuncs at random
    points, with bounds of what rounding does. A tape with an input ``parameters`` becomes three functions, as in
    `linkwise.export.languages.c.to_c`.

    Parameters
    ----------
    tapes : Tape or sequence of Tape
        The functions.
    precision : {"double", "single"}
        f64 or f32.
    prefix : str
        Before the name of each.
    self_test : bool
        Whether there are unit tests.
    titles : mapping of str to str, optional
        For a tape's name, its documentation, of which the first paragraph stands in the comment.
    points : mapping of str to array (n, ...), optional
        Values of inputs for the tests, as in `linkwise.export.languages.c.to_c`.

    Raises
    ------
    ArgumentError
        Where the precision is unknown, there is no tape, or two have one name.
    KernelError
        Where a number does not exist in single precision.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> source = to_rust(trace(lambda x: x * x, "square", {"x": (1,)}, {"y": (1,)}), self_test=False)
    >>> print(source[source.index("pub fn") :])
    pub fn square(x: &[f64; 1], y: &mut [f64; 1]) {
        let v1: f64 = x[0] * x[0];
        y[0] = v1;
    }
    <BLANKLINE>
    """
    options = {"precision": precision, "prefix": prefix, "self_test": self_test, "titles": titles, "points": points}
    return str(LANGUAGES["rust"].write(tapes, **options))


def _comment(part: TapePart, ports: Mapping[str, str]) -> str:
    lines = [printable_ascii(part.title), ""]
    for mark, group in (("", inputs(part.tape)), ("-> ", outputs(part.tape))):
        for port in group:
            identifier = ports[f"{mark}{port.name}"]
            name = port.called(identifier)
            lines.append(f"* `{identifier}`{f' {name},' if name else ''} {port.laid_out}")
    lines += ["", f"Operations: {operations_text(part.tape)}."]
    wrapped = [piece for line in lines for piece in (textwrap.wrap(line, 110, subsequent_indent="  ") or [""])]
    return "".join(f"/// {line}".rstrip() + "\n" for line in wrapped)


def _rows(table: Sequence[Sequence[float]], precision: str) -> list[str]:
    words, lines = ("f64::NAN", "f64::INFINITY", "f64::NEG_INFINITY"), []
    for row in table:
        text = ", ".join(special(value, words, decimal(value, precision)) for value in row)
        lines += textwrap.wrap(f"[{text}],", 100, initial_indent="    ", subsequent_indent="     ", break_on_hyphens=False)
    return lines
