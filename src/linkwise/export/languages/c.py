"""C99 that needs nothing but math.h: a source, its header, and a program that tests them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy.typing as npt

from linkwise.export.language import LANGUAGES, ROWS, Job, RowLanguage, Sources, language, special
from linkwise.export.ports import Identifiers, inputs, operations_text, outputs, placed, printable_ascii, spelt
from linkwise.export.samples import Samples, samples
from linkwise.export.split import TapePart
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while alignas alignof
atomic bool complex constexpr generic imaginary noreturn nullptr static_assert thread_local typeof typeof_unqual true
false asm fortran
"""
_CPP_KEYWORDS = """
and and_eq bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept consteval
constinit const_cast decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq
operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid
typename using virtual wchar_t xor xor_eq final override import module std
"""
_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor fma
fmax fmin fmod frexp hypot ilogb ldexp lgamma lgamma_r llrint llround log log10 log1p log2 logb lrint lround modf nan
nearbyint nextafter nexttoward pow pow10 remainder remquo rint round scalbln scalbn sin sincos sinh sqrt tan tanh
tgamma trunc gamma drem finite significand scalb scalbf j0 j1 jn y0 y1 yn isinf isnan isfinite isnormal signbit
fpclassify isgreater isgreaterequal isless islessequal islessgreater isunordered roundeven float_t double_t nextup
nextdown llogb fromfp ufromfp fromfpx ufromfpx fmaxmag fminmag fmaximum fminimum iseqsig issubnormal issignaling iszero
canonicalize totalorder totalordermag getpayload setpayload setpayloadsig fadd fsub fmul fdiv ffma fsqrt dadd dsub dmul
ddiv dfma dsqrt
"""
_MACROS = """
NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL NULL EOF I signgam errno math_errhandling MATH_ERRNO MATH_ERREXCEPT MAXFLOAT
M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 FP_INFINITE FP_NAN
FP_NORMAL FP_SUBNORMAL FP_ZERO FP_FAST_FMA FP_ILOGB0 FP_ILOGBNAN BUFSIZ FILE stdin stdout stderr size_t ptrdiff_t unix
linux near far min max small interface main printf puts fprintf abs labs div ldiv exit malloc free isalpha index
"""
_LIBRARY = """
abort atexit calloc realloc rand srand qsort bsearch system getenv strlen strcpy strcat strcmp strchr strdup memcpy memmove
memset memcmp memchr bcmp bcopy bzero ffs rindex alloca conj carg cabs creal cimag cproj cexp csqrt time clock difftime
signal raise setjmp longjmp remove rename rewind read write open close lseek creat link unlink access pipe dup dup2 fork
wait kill alarm pause sleep usleep nice sync select poll send recv bind listen accept connect socket shutdown random
srandom div_t ldiv_t lldiv_t wchar_t time_t clock_t fpos_t va_list jmp_buf uint8_t uint16_t uint32_t uint64_t int8_t
int16_t int32_t int64_t uintptr_t intptr_t uint ushort ulong scanf sscanf fscanf sprintf snprintf putchar getchar gets
isalnum isdigit isspace isupper islower toupper tolower
"""

_OF_TESTS = """
compared name count found wanted allowed worst largest tested open off same share untested failed made row k
"""

#: Command that compiles a source with its test, and runs it.
COMPILE = "cc -std=c99 -O2 -Wall -Wextra -pedantic {name}.c {name}_test.c -o {name}_test -lm && ./{name}_test"

#: Meaning of a program's exit status.
ENDS = "Ends with 0 where all is well, else with 1;\n * with 2 where a function could not be tested."

COMPARE = """/* The largest difference in units of what rounding allows; above 1 where one is too large or not a number.
 * Below 0 where nothing could be compared: at these points no result is a number, or rounding decides which. */
static double compared(const char *name, const int count, const double *found, const double *wanted, const double *allowed)
{
    double worst = 0.0;
    double largest = 0.0;
    int tested = 0;
    int k;

    for (k = 0; k < count; k++) {
        const double off = (found[k] == wanted[k]) ? 0.0 : fabs(found[k] - wanted[k]);
        const int open = isinf(allowed[k]) ? 1 : 0;
        const int same = (open == 1) || (isnan(found[k]) && isnan(wanted[k])) || (off <= allowed[k]);
        const double share = same ? ((allowed[k] > 0.0) ? (off / allowed[k]) : 0.0) : HUGE_VAL;

        tested += ((open == 1) || isnan(wanted[k])) ? 0 : 1;
        largest = ((open == 0) && (off > largest)) ? off : largest;
        worst = (share > worst) ? share : worst;
    }
    printf("%-40s %5d of %d numbers, largest difference %.1e, ", name, tested, count, largest);
    printf("%s\\n", (worst > 1.0) ? "TOO LARGE" : ((tested > 0) ? "good" : "NOT TESTED"));
    return ((tested > 0) || (worst > 1.0)) ? worst : -1.0;
}
"""


@language
class C(RowLanguage):
    """C99 and later.

    Reserved are the words of C and of C++, which reads the header; math.h with the Bessel functions of POSIX; macros and
    types of common headers; and functions of the C library, which one of the same name would replace in the whole program.
    """

    name = "c"
    suffix = ".c"
    reserved = frozenset(
        {
            *f"{_KEYWORDS} {_CPP_KEYWORDS} {_MATH} {_MACROS} {_LIBRARY}".split(),
            *(f"{name}{letter}" for name in _MATH.split() for letter in "fl"),
        }
    )
    options = frozenset({"name", "precision", "prefix", "self_test", "titles", "points"})
    operations: ClassVar[Mapping[str, str]] = {
        "sqrt": "sqrt<f>({})",
        "sin": "sin<f>({})",
        "cos": "cos<f>({})",
        "abs": "fabs<f>({})",
        "sign": "sign_of({})",
        "atan2": "plane_angle({}, {})",
        "select": "({} > 0.0<f>) ? {} : {}",
    }
    helpers: ClassVar[Mapping[str, str]] = {
        "sign": """<kind> <real> sign_of(const <real> x)
{
    return (x > 0.0<f>) ? 1.0<f> : ((x < 0.0<f>) ? -1.0<f> : x);
}
""",
        "atan2": """<kind> <real> plane_angle(const <real> y, const <real> x)
{
    return (isinf(y) && isinf(x)) ? (<real>)NAN : atan2<f>(y + 0.0<f>, x + 0.0<f>);
}
""",
    }
    types: ClassVar[Mapping[str, str]] = {"double": "double", "single": "float"}
    single = "f"
    explicit = True
    taken: ClassVar[tuple[str, ...]] = ("sign_of", "plane_angle")
    of_tests: ClassVar[tuple[str, ...]] = tuple(_OF_TESTS.split())
    local = "const {real} {name} = {value};"
    unused = "(void){};"
    room = "{real} {name}[{size}];"
    spaced = True
    kind = "static"

    def number(self, value: float, precision: str) -> str:
        """Format a number, with the suffix f in single precision."""
        return super().number(value, precision) + self.suffix_in(precision)

    def helpers_of(self, job: Job) -> list[str]:
        """The functions that operations call, of the language's kind."""
        return [text.replace("<kind>", self.kind) for text in super().helpers_of(job)]

    def declared(self, part: TapePart, job: Job) -> Function:
        """A function of a file."""
        ports, lines = self.inside(part, job)
        parameters = [f"const {job.real} {ports[port.name]}[{max(1, port.size)}]" for port in inputs(part.tape)]
        parameters += [f"{job.real} {ports[f'-> {port.name}']}[{max(1, port.size)}]" for port in outputs(part.tape)]
        return Function(part.tape, part.name, parameters, _comment(part.tape, ports, part.title), lines)

    def function(self, part: TapePart, job: Job) -> str:
        """Write one function without its comment, which is in the header."""
        return self.declared(part, job).definition

    def text(self, job: Job) -> CSource:
        """Write a self-contained source with its files."""
        functions = tuple(self.declared(part, job) for part in job.parts)
        helpers = self.helpers_of(job)
        source = CSource("\n".join(["#include <math.h>\n", *helpers, *(function.definition for function in functions)]))
        options = job.options
        source.name = spelt(options.name or f"{options.prefix}{job.tapes[0].name}")
        source.precision, source.functions, source.tapes = options.precision, functions, job.tapes
        source.tested, source.points, source.helpers = options.self_test, dict(options.points), helpers
        return source

    def files(self, job: Job) -> Sources:
        """The source, its header and its test."""
        return self.text(job).sources


@dataclass(frozen=True)
class Function:
    """One function in C.

    Attributes
    ----------
    tape : Tape
        What it computes.
    name : str
        Its identifier.
    parameters : list of str
        As they are declared: ``const double q[6]``.
    comment : str
        What stands before it in the header.
    lines : list of str
        Its body.
    """

    tape: Tape
    name: str
    parameters: list[str]
    comment: str
    lines: list[str]

    @property
    def signature(self) -> str:
        """Its declaration, without the semicolon."""
        return signature(self.name, self.parameters)

    @property
    def definition(self) -> str:
        """Declaration with its body."""
        return definition(self.name, self.parameters, self.lines)


class CSource(str):
    """C source: as text one self-contained file; `header`, `source` and `self_test` are the same as three files.

    Attributes
    ----------
    name : str
        Name of the files, without suffix.
    precision : str
        "double" or "single".
    functions : tuple of Function
        In order; of a tape with parameters there are three.
    tapes : tuple of Tape
        What was exported.

    Examples
    --------
    >>> from linkwise import robots
    >>> code = robots.planar_2r().kernel("gravity_torque").to_c()
    >>> code.signature
    'void gravity_torque(const double q[2], double tau[2])'
    >>> code.name, code.precision, len(code.functions)
    ('gravity_torque', 'double', 1)
    """

    name: str
    precision: str
    functions: tuple[Function, ...]
    tapes: tuple[Tape, ...]
    tested: bool
    points: Mapping[str, npt.ArrayLike]
    helpers: list[str]

    @property
    def signature(self) -> str:
        """The declarations of the functions, a line each.

        Examples
        --------
        >>> from linkwise.kernel.tape import trace
        >>> to_c(trace(lambda x: x * x, "square", {"x": (2,)}, {"y": (2,)})).signature
        'void square(const double x[2], double y[2])'
        """
        return "\n".join(f"void {function.name}({', '.join(function.parameters)})" for function in self.functions)

    @cached_property
    def header(self) -> str:
        """NAME.h: include guard, declarations for C and C++, and the description of every argument."""
        guard = f"{self.name.upper()}_H"
        declarations = "\n\n".join(f"{function.comment}\n{function.signature};" for function in self.functions)
        return f"""/** @file {self.name}.h
 *  Made by Linkwise. C99; nothing is allocated, nothing is kept between calls.
 */
#ifndef {guard}
#define {guard}

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}

#ifdef __cplusplus
}}
#endif

#endif /* {guard} */
"""

    @cached_property
    def source(self) -> str:
        """NAME.c: the functions."""
        head = f'/* Made by Linkwise; see {self.name}.h. */\n#include "{self.name}.h"\n\n#include <math.h>\n'
        return "\n".join([head, *self.helpers, *(function.definition for function in self.functions)])

    @cached_property
    def self_test(self) -> str:
        """NAME_test.c: a program that compares the functions with the gufuncs at random points.

        It prints the largest difference of each and ends with 0 where all are within what rounding allows, else with 1.
        """
        names = Identifiers("c", taken=[*(function.name for function in self.functions), *C.of_tests])
        texts = [f"/* Made by Linkwise: tests {self.name}.c. {ENDS} */"]
        texts += ["#include <math.h>\n#include <stdio.h>\n", f'#include "{self.name}.h"\n', COMPARE]
        tests = []
        for tape in self.tapes:
            called = next(function.name for function in self.functions if function.tape is tape)
            tests.append(self._test(tape, called, names, texts))
        return "\n".join([*texts, definition("main", ["void"], verdict(tests), "int")])

    @property
    def sources(self) -> Sources:
        """The files."""
        files = {f"{self.name}.h": self.header, f"{self.name}.c": self.source}
        if self.tested:
            files[f"{self.name}_test.c"] = self.self_test
        command = COMPILE if self.tested else "cc -std=c99 -O2 -Wall -Wextra -pedantic -c {name}.c"
        operations = {function.name: function.tape.operations for function in self.functions}
        return Sources(files, operations, command.format(name=self.name))

    def write(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Write the files, all or none; see `Sources.write`."""
        return self.sources.write(folder, force=force)

    def _test(self, tape: Tape, called: str, names: Identifiers, texts: list[str]) -> str:
        """Write the tables of one function and its test; return the test's name."""
        real, count = C.types[self.precision], max(1, len(tape.results))
        drawn = samples(tape, ROWS, self.precision, points=self.points)
        arguments, wanted, allowed, test = (names.new(f"{called}_{word}") for word in ("given", "wanted", "allowed", "test"))
        texts += [table_text(arguments, drawn.inputs, self.precision), *expected_text(wanted, allowed, drawn)]
        places = [f"&{arguments}[row][{first if port.size else 0}]" for first, port in placed(inputs(tape))]
        places += [f"&made[{first if port.size else 0}]" for first, port in placed(outputs(tape))]
        lines = f"""{real} made[{count}] = {{0}};
double found[{ROWS * count}];
int row;
int k;

for (row = 0; row < {ROWS}; row++) {{
    {called}({", ".join(places)});
    for (k = 0; k < {count}; k++) {{
        found[({count} * row) + k] = (double)made[k];
    }}
}}
return compared("{called}", {ROWS * count}, found, &{wanted}[0][0], &{allowed}[0][0]);"""
        texts.append(definition(test, ["void"], lines.splitlines(), "static double"))
        return test


def to_c(
    tapes: Tape | Sequence[Tape],
    *,
    name: str | None = None,
    precision: str = "double",
    prefix: str = "",
    self_test: bool = True,
    titles: Mapping[str, str] | None = None,
    points: Mapping[str, npt.ArrayLike] | None = None,
) -> CSource:
    """Write tapes as C99 functions ``void NAME(const double q[6], ..., double tau[6])``, for one configuration a call.

    Arrays are in C order. Nothing is allocated and nothing kept, so the functions may be called from anywhere at any time.
    All that is read is read before anything is written: an output may be the array of an input.

    Where a tape computes anything of an input ``parameters`` alone, three functions come of it:
    ``NAME_prepare(parameters, constants)`` does that, ``NAME_prepared(..., constants, ...)`` the rest, and NAME both.

    Parameters
    ----------
    tapes : Tape or sequence of Tape
        The functions.
    name : str, optional
        Name of the files; by default that of the first tape, with the prefix.
    precision : {"double", "single"}
        Precision of all numbers. In single precision numbers and functions have the suffix f.
    prefix : str
        Before the name of each function.
    self_test : bool
        Whether `write` writes a program that tests them.
    titles : mapping of str to str, optional
        For a tape's name, its documentation, of which the first paragraph stands in the comment.
    points : mapping of str to array (n, ...), optional
        For the name of an input the values with which the test calls the functions, where random ones give no numbers:
        closed configurations ``q`` of a mechanism with loops, and speeds ``qd`` that keep them closed.

    Raises
    ------
    ArgumentError
        Where a precision is unknown, or there is no tape, or two have one name.
    KernelError
        Where a number does not exist in single precision.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> print(to_c(trace(lambda x: x * x + 1.0, "square", {"x": (1,)}, {"y": (1,)})))
    #include <math.h>
    <BLANKLINE>
    void square(const double x[1], double y[1])
    {
        const double v1 = 1.0 + (x[0] * x[0]);
    <BLANKLINE>
        y[0] = v1;
    }
    <BLANKLINE>
    """
    source: CSource = LANGUAGES["c"].write(
        tapes, name=name, precision=precision, prefix=prefix, self_test=self_test, titles=titles, points=points
    )
    return source


def _comment(tape: Tape, ports: Mapping[str, str], title: str) -> str:
    """Doxygen comment of a declaration."""
    lines = [*textwrap.wrap(f"@brief {printable_ascii(title or tape.name)}", 110), ""]
    for direction, mark, group in (("in", "", inputs(tape)), ("out", "-> ", outputs(tape))):
        for port in group:
            identifier = ports[f"{mark}{port.name}"]
            name = port.called(identifier)
            text = f"@param[{direction}] {identifier} {f'{name}, ' if name else ''}{port.laid_out}"
            lines += textwrap.wrap(text, 110, subsequent_indent="    ")
    lines += ["", f"Operations: {operations_text(tape)}."]
    return "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */"])


def signature(name: str, parameters: Sequence[str], kind: str = "void") -> str:
    """A declaration on one line, or with a line for each parameter where it is long."""
    line = f"{kind} {name}({', '.join(parameters)})"
    return line if len(line) <= 100 else f"{kind} {name}(\n    " + ",\n    ".join(parameters) + ")"


def definition(name: str, parameters: Sequence[str], lines: Sequence[str], kind: str = "void") -> str:
    """A function with its body."""
    inside = "".join(f"    {line}\n" if line else "\n" for line in lines)
    return f"{signature(name, parameters, kind)}\n{{\n{inside}}}\n"


def verdict(tests: Sequence[str], failures: str = "0") -> list[str]:
    """Lines of ``main``: call the tests, and end with a status from `ENDS`."""
    lines = ["double worst = 0.0;", "double share;", "int untested = 0;", "int failed;", ""]
    for test in tests:
        lines += [f"share = {test}();", "worst = (share > worst) ? share : worst;", "untested += (share < 0.0) ? 1 : 0;"]
    lines.append(f"failed = ((worst > 1.0) || ({failures} > 0)) ? 1 : 0;")
    lines.append('printf("%s\\n", (failed > 0) ? "FAILED" : ((untested > 0) ? "good as far as tested" : "all good"));')
    return [*lines, "return (failed > 0) ? 1 : ((untested > 0) ? 2 : 0);"]


def table_text(name: str, values: FloatArray, precision: str) -> str:
    """An array of rows of numbers."""
    suffix = LANGUAGES["c"].suffix_in(precision)
    words = ("(double)NAN", "HUGE_VAL", "-HUGE_VAL")
    rows = [[special(x, words, LANGUAGES["c"].number(x, precision)) for x in row] for row in values.tolist()]
    return _array(name, C.types[precision], [row or [f"0.0{suffix}"] for row in rows])


def expected_text(wanted: str, allowed: str, drawn: Samples) -> list[str]:
    """Tables of the results, and of their tolerances, rounded upwards to a few digits."""
    bounds = [[f"{x:.2e}" if math.isfinite(x) else "HUGE_VAL" for x in row] for row in (1.01 * drawn.allowed).tolist()]
    return [table_text(wanted, drawn.wanted, "double"), _array(allowed, "double", [row or ["0.0"] for row in bounds])]


def _array(name: str, kind: str, rows: list[list[str]]) -> str:
    """An array of rows of formatted numbers."""
    written = [textwrap.fill(", ".join(row), 110, initial_indent="    {", subsequent_indent="     ") + "}," for row in rows]
    return f"static const {kind} {name}[{len(rows)}][{len(rows[0])}] = {{\n" + "\n".join(written) + "\n};\n"
