"""SpaceLib, the library of the 4x4-matrix method, on numbers, batches and symbols."""

# Put in place while the modules are being written; explicit imports follow.
import importlib as _importlib

from linkwise.spacelib.constants import *  # noqa: F403

for _name in (
    "position velocity inertia transformations cardan cardan_rates shortcuts frames points lines planes"
    " matrices vectors copying printing linear_systems direct_dynamics predicates"
).split():
    try:
        _module = _importlib.import_module(f"linkwise.spacelib.{_name}")
    except Exception:
        continue
    for _key, _value in list(vars(_module).items()):
        if callable(_value) and getattr(_value, "__module__", "") == _module.__name__ and not _key.startswith("_"):
            globals()[_key] = _value
