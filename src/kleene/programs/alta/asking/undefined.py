"""What a head that read nothing hands to a function: an object that may be passed around; its every use raises."""

from typing import Any, NoReturn


class Used(BaseException):
    """An undefined reading was used. It is not an Exception, so that no `except` in the user's function catches it."""


class Undefined:
    """The reading of a head that read nothing. `on_use` is called before every use, because a bare `except:` may catch
    the error that follows.

    Assigning it, passing it to a function and keeping it in a list are no use. Writing it to a variable is one.
    """

    __slots__ = ("_on_use",)

    def __init__(self, on_use):
        object.__setattr__(self, "_on_use", on_use)

    def __getattribute__(self, name: str) -> NoReturn:  # its class too, which `isinstance` asks for
        use(self)

    __hash__ = None  # type: ignore[assignment]  # replaced below


def use(reading: Undefined, *_: Any, **__: Any) -> NoReturn:
    """Note that the reading was used, and raise."""
    object.__getattribute__(reading, "_on_use")()
    raise Used


def _install() -> None:
    """Let every question and every operation be a use."""
    asked = "bool index int float complex hash len contains iter next str repr format call enter reversed bytes"
    binary = "add sub mul floordiv truediv mod divmod pow xor and or lshift rshift matmul"
    changed = "eq ne lt le gt ge neg pos abs invert floor ceil trunc round getitem setitem delitem setattr delattr"
    names = [*asked.split(), *binary.split(), *(f"r{n}" for n in binary.split()), *changed.split()]
    for name in [*names, "array_ufunc", "array_function", "instancecheck"]:
        setattr(Undefined, f"__{name}__", use)


_install()
