"""Words that a name in generated code must not be: keywords, and what the headers and modules in use define."""

from __future__ import annotations

import builtins
import keyword

_C_KEYWORDS = """
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
_CUDA = """
dim3 threadIdx blockIdx blockDim gridDim warpSize cudaError_t cudaStream_t cudaSuccess rsqrt sincospi sinpi cospi norm
rnorm norm3d norm4d rhypot erfcx erfcinv erfinv normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1 rcbrt saturate char1
int1 int2 int3 int4 uint1 uint2 uint3 uint4 long1 float1 float2 float3 float4 double1 double2 double3 double4 half
clock assert
"""
_RUST = """
as async await break const continue crate dyn else enum extern false fn for gen if impl in let loop match mod move mut
pub ref return self Self static struct super trait true type unsafe use where while abstract become box do final macro
override priv try typeof unsized virtual yield union raw safe u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f16
f32 f64 f128 bool char str String Vec Option Some None Ok Err Box core std alloc libm main sin cos sqrt abs atan2
tests test
"""

_SUFFIXED = {f"{name}{letter}" for name in _MATH.split() for letter in "fl"}

C = frozenset({*f"{_C_KEYWORDS} {_CPP_KEYWORDS} {_MATH} {_MACROS} {_LIBRARY}".split(), *_SUFFIXED})
"""C99 and later, C++ (which reads the header), math.h with the Bessel functions of POSIX, macros and types of
common headers, and functions of the C library, which one of the same name would replace in the whole program."""

CUDA = C | frozenset(_CUDA.split())
"""The same, and what CUDA defines everywhere."""

RUST = frozenset(_RUST.split())
"""Keywords of all editions, reserved words, primitive types and the prelude's names in use."""

PYTHON = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "numpy", "jnp", "jax"})
"""Keywords, soft ones too, built-in functions and the modules in use."""

WORDS = {"c": C, "cuda": CUDA, "rust": RUST, "python": PYTHON, "jax": PYTHON}
"""What is reserved, by language."""
