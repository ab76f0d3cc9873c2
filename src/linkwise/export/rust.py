"""Rust without the standard library's allocations: functions on arrays by reference."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

import numpy.typing as npt

from linkwise.export.body import body, ports_of
from linkwise.export.c_text import HELPERS, unused
from linkwise.export.expressions import Syntax
from linkwise.export.names import Names
from linkwise.export.numbers import check_numbers, check_precision, decimal
from linkwise.export.ports import CONSTANTS, PARAMETERS, Port, inputs, operations_text, outputs, told
from linkwise.export.samples import samples
from linkwise.export.split import Part, as_tapes, parts
from linkwise.kernel.tape import Tape

TYPES = {"double": "f64", "single": "f32"}

ROWS = 4
"""Points at which a function is tested."""

UNTOLD = "at its points no result is a number, or rounding decides which"
"""Why a test is not run."""

_FORMS = {
    "sqrt": "sqrt({})",
    "sin": "sin({})",
    "cos": "cos({})",
    "abs": "abs({})",
    "sign": "sign_of({})",
    "atan2": "plane_angle({}, {})",
    "select": "if {} > 0.0 {{ {} }} else {{ {} }}",
}

_FUNCTIONS = {"sqrt": "sqrt", "sin": "sin", "cos": "cos", "abs": "fabs", "atan2": "atan2"}
"""What is taken from std or, with the feature libm, from the crate libm, under its name there."""

_HELPERS = {
    "sign": """fn sign_of(x: {real}) -> {real} {{
    if x > 0.0 {{ 1.0 }} else if x < 0.0 {{ -1.0 }} else {{ x }}
}}
""",
    "atan2": """/// The angle of the point (x, y), in which no zero has a sign.
fn plane_angle(y: {real}, x: {real}) -> {real} {{
    if y.is_infinite() && x.is_infinite() {{ {real}::NAN }} else {{ atan2(y + 0.0, x + 0.0) }}
}}
""",
}

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
    `linkwise.export.c.to_c`.

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
        Values of inputs for the tests, as in `linkwise.export.c.to_c`.

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
    check_precision(precision)
    given = as_tapes(tapes)
    for tape in given:
        check_numbers(tape, precision)
    names = Names("rust", taken=(*HELPERS, "near", "row"))
    used = {instruction.op for tape in given for instruction in tape.code}
    made = parts(given, names, prefix, titles)
    texts = [_HEAD, *_mathematics(used, precision), *(_function(part, precision, names) for part in made)]
    if self_test:
        called = {tape.name: next(part.name for part in made if part.tape is tape) for tape in given}
        texts.append(_tests(given, called, precision, names, points))
    return "\n".join(texts)


def _mathematics(used: set[str], precision: str) -> list[str]:
    real, f = TYPES[precision], "" if precision == "double" else "f"
    texts = []
    for op in (op for op in _FUNCTIONS if op in used):
        second = op == "atan2"
        arguments = f"y: {real}, x: {real}" if second else f"x: {real}"
        std, other = (f"y.{op}(x)", "y, x") if second else (f"x.{op}()", "x")
        texts.append(f'#[cfg(not(feature = "libm"))]\nfn {op}({arguments}) -> {real} {{\n    {std}\n}}\n')
        texts.append(
            f'#[cfg(feature = "libm")]\nfn {op}({arguments}) -> {real} {{\n    libm::{_FUNCTIONS[op]}{f}({other})\n}}\n'
        )
    return texts + [text.format(real=real) for op, text in _HELPERS.items() if op in used]


def _function(part: Part, precision: str, names: Names) -> str:
    tape, real = part.tape, TYPES[precision]
    if part.calls:
        scope = names.inner()
        ports, (first, second) = ports_of(tape, scope), part.calls
        kept = scope.new(CONSTANTS)
        others = [ports[port.name] for port in inputs(tape) if port.name != PARAMETERS]
        results = [ports[f"-> {port.name}"] for port in outputs(tape)]
        lines = [f"let mut {kept} = [0.0; {part.constants}];", f"{first.name}({ports[PARAMETERS]}, &mut {kept});"]
        lines.append(f"{second.name}({', '.join([*others, f'&{kept}', *results])});")
    else:
        inside = body(tape, _syntax(precision), names, lambda identifier, _, k: f"{identifier}[{k}]")
        ports = inside.ports
        lines = [f"let _ = {ports[key]};" for key in unused(tape)]
        lines += [f"let {name}: {real} = {value};" for name, value in inside.lines]
        places = [(ports[f"-> {port.name}"], k) for port in outputs(tape) for k in range(port.size)]
        lines += [f"{name}[{k}] = {value};" for (name, k), value in zip(places, inside.results, strict=True)]
    arguments = [f"{ports[port.name]}: &[{real}; {port.size}]" for port in inputs(tape)]
    arguments += [f"{ports[f'-> {port.name}']}: &mut [{real}; {port.size}]" for port in outputs(tape)]
    return _commented(tape, ports, part.title) + _definition(part.name, arguments, lines)


def _syntax(precision: str) -> Syntax:
    return Syntax(_FORMS, lambda value: decimal(value, precision))


def _definition(name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
    line = f"pub fn {name}({', '.join(arguments)}) {{"
    head = line if len(line) <= 100 else f"pub fn {name}(\n    " + ",\n    ".join(arguments) + ",\n) {"
    return f"{head}\n" + "".join(f"    {text}\n" for text in lines) + "}\n"


def _commented(tape: Tape, ports: Mapping[str, str], title: str) -> str:
    lines = [told(title), ""]
    lines += [_described(ports[port.name], port) for port in inputs(tape)]
    lines += [_described(ports[f"-> {port.name}"], port) for port in outputs(tape)]
    lines += ["", f"Operations: {operations_text(tape)}."]
    wrapped = [part for line in lines for part in (textwrap.wrap(line, 110, subsequent_indent="  ") or [""])]
    return "".join(f"/// {line}".rstrip() + "\n" for line in wrapped)


def _described(identifier: str, port: Port) -> str:
    name = port.called(identifier)
    called = f" {name}," if name else ""
    return f"* `{identifier}`{called} {port.laid_out}"


def _tests(
    tapes: Sequence[Tape],
    called: Mapping[str, str],
    precision: str,
    names: Names,
    points: Mapping[str, npt.ArrayLike] | None,
) -> str:
    real = TYPES[precision]
    texts = [
        "#[cfg(test)]\nmod tests {\n    use super::*;",
        _NEAR.format(real=real),
    ]
    for tape in tapes:
        drawn = samples(tape, ROWS, precision, points=points)
        test = names.new(f"{called[tape.name]}_test")
        lines = [f"const GIVEN: [[{real}; {tape.input_count}]; {ROWS}] = ["]
        lines += [*_rows(drawn.given.tolist(), precision), "];"]
        for name, table in (("WANTED", drawn.wanted), ("ALLOWED", 1.01 * drawn.allowed)):
            lines += [f"const {name}: [[f64; {len(tape.results)}]; {ROWS}] = [", *_rows(table.tolist(), "double"), "];"]
        lines.append(f"for row in 0..{ROWS} {{")
        arguments, first = [], 0
        for port in inputs(tape):
            arguments.append(f"GIVEN[row][{first}..{first + port.size}].try_into().unwrap()")
            first += port.size
        compare, first = [], 0
        for k, port in enumerate(outputs(tape)):
            lines.append(f"    let mut made{k}: [{real}; {port.size}] = [0.0; {port.size}];")
            arguments.append(f"&mut made{k}")
            part = f"[row][{first}..{first + port.size}]"
            compare.append(f"    near(&made{k}, &WANTED{part}, &ALLOWED{part});")
            first += port.size
        lines += [f"    {called[tape.name]}({', '.join(arguments)});", *compare, "}"]
        ignored = "" if drawn.tell else f'    #[ignore = "{UNTOLD}"]\n'
        texts += [f"    #[test]\n{ignored}    fn {test}() {{", *(f"        {line}" for line in lines), "    }\n"]
    return "\n".join([*texts, "}", ""])


def _rows(table: Sequence[Sequence[float]], precision: str) -> list[str]:
    lines = []
    for row in table:
        text = ", ".join(_number(value, precision) for value in row)
        lines += textwrap.wrap(f"[{text}],", 100, initial_indent="    ", subsequent_indent="     ", break_on_hyphens=False)
    return lines


def _number(value: float, precision: str) -> str:
    if math.isnan(value):
        return "f64::NAN"
    if math.isinf(value):
        return "f64::INFINITY" if value > 0 else "f64::NEG_INFINITY"
    return decimal(value, precision)
