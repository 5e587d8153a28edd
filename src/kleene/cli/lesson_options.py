"""The options of `kleene teach`, which are those of the task that is typed, and how its help shows them."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from kleene.cli.options import complete_program
from kleene.errors import InputError, close_names, typed_option

ASKED, GIVEN = "kleene.teach.asked", "kleene.teach.given"  # in a context: the task's options, and the values of some
SHOWN = {bool: "", int: "N", float: "X", list: "N,N"}  # values in the help, by their type
WIDE = 100  # columns of the help


class TypedTask(NamedTuple):
    """The task that was typed, its machine, its options, and what is learned."""

    task: str
    machine: str | None
    options: Mapping[str, Any]
    summary: str = ""


def given_options(context: typer.Context) -> dict[str, Any]:
    """The values that were typed for options of the lesson."""
    return context.meta.get(GIVEN, {})


def complete_task(incomplete: str) -> list[str]:
    """The names of tasks and programs that begin with `incomplete`, and files."""
    from kleene.teaching.makers import MEMORIES, SEQUENCES

    programs = complete_program(incomplete)
    return [name for name in (*SEQUENCES, *MEMORIES) if name.startswith(incomplete) and name not in programs] + programs


class LessonCommand(TyperCommand):
    """A command with its own options and those of the lesson that its argument TASK names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.max_content_width = WIDE
        asked = self._asked(ctx, args)
        if asked is not None:
            ctx.meta[ASKED] = asked
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        from kleene.teaching.options import every_option

        asked = ctx.meta.get(ASKED)
        own = parameters(tuple((every_option() if asked is None else asked.options).values()))
        *general, help_option = super().get_params(ctx)
        return [*general, *own, help_option]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        asked = ctx.meta.get(ASKED)
        if asked is None:
            return super().format_help_text(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(asked.summary)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        asked = ctx.meta.get(ASKED)
        general = [one for one in super().get_params(ctx) if one.param_type_name == "option"]
        if asked is None:
            with formatter.section("Tasks by machine"):
                formatter.write_dl(listed_tasks())
        else:
            with formatter.section(f"Options of {asked.task}"):
                formatter.write_dl([_shown(one) for one in asked.options.values() if one.typed] or [("", "no options")])
            general = [one for one in general if one.name != "heads" or asked.machine == "ntm"]
        with formatter.section("Options of every task"):
            formatter.write_dl([_unbounded(*one.get_help_record(ctx)) for one in general])

    def _asked(self, ctx: Any, args: list[str]) -> TypedTask | None:
        """What the words mean; refuses options that the task does not have. None where no task was typed."""
        from kleene.teaching.options import every_option

        parser = self.make_parser(ctx)
        parser.ignore_unknown_options = True
        found, left, _ = parser.parse_args(list(args))
        typed = [word for word in (found.get("task"), *left) if isinstance(word, str)]
        unknown = [word.partition("=")[0] for word in typed if word.startswith("-")]
        words = [word for word in typed if not word.startswith("-")]
        task = next((word for word in words if ".py" in word), None) if unknown else None
        task = task or next(iter(words), None)
        if task is None:
            return None
        named = {name for name in every_option() if isinstance(found.get(name), str | bool)}
        return asked_options(task, found.get("machine"), named, unknown, self._general(), shown="help" in found)

    def _general(self) -> list[str]:
        return [name for one in self.params if one.param_type_name == "option" for name in one.opts]


def asked_options(
    task: str, machine: Any, named: Iterable[str], unknown: Sequence[str], general: Iterable[str], shown: bool
) -> TypedTask:
    """The options of a task; refuses those in `named` and `unknown` that it does not have.

    A file is only run here if its options are to be `shown`, or if one is not that of any lesson. What a function in a
    file makes is not known yet, so any option of a lesson may be for that.
    """
    from kleene.teaching import makers
    from kleene.teaching.options import every_option

    path, _, name = task.partition(":")
    chosen = makers.meant(machine if isinstance(machine, str) else None, dict.fromkeys(named))
    anything = {name: one.unbounded for name, one in every_option().items()}
    if not path.endswith(".py"):
        maker = makers.maker_named(task, chosen)
        learner = maker.learner(repr(task), chosen)
        options, summary = maker.options(learner), maker.summary(learner)
        makers.check_options(repr(task), learner, named, [*options])
    elif not shown and not unknown:
        return TypedTask(task, chosen, anything)
    else:
        subject = makers.object_in_file(path, name or "lesson")
        learner, options = makers.options_of(subject, task, chosen)
        summary = f"{name or 'lesson'} in {path}" + (f", on {learner}." if learner else ".")
    own = [typed_option(name) for name, one in options.items() if one.typed]
    switches = [_off(one) for one in options.values()]
    for word in unknown:
        if word not in (*own, *switches):
            close = close_names(word, [*own, *general])
            there = f"did you mean {' or '.join(close)}?" if close else f"its options are {', '.join(own) or 'none'}"
            raise InputError(f"{task!r} has no option {word!r}; {there}")
    if path.endswith(".py") and not shown:
        options = anything | options
    return TypedTask(task, learner, options, summary)


def _off(one: Any) -> str:
    """How a switch is turned off."""
    return f"--{one.off or f'no-{one.name}'}"


@cache
def parameters(options: tuple[Any, ...]) -> list[Any]:
    """The options as a command has them, made by Typer from a signature."""

    def taking() -> None: ...

    typed = [_parameter(one) for one in options if one.typed]
    taking.__signature__ = inspect.Signature(typed)  # type: ignore[attr-defined]
    taking.__annotations__ = {one.name: one.annotation for one in typed}
    app = typer.Typer(add_completion=False)
    app.command()(taking)
    return [one for one in typer.main.get_command(app).params if one.param_type_name == "option"]


def _parameter(one: Any) -> inspect.Parameter:
    """A parameter whose value goes into the context, read as the option reads it."""
    switch = one.types == (bool,)

    def keep(context: typer.Context, value: Any) -> None:
        if value is not None and not context.resilient_parsing:
            context.meta.setdefault(GIVEN, {})[one.name] = value if switch else one.read(value)

    spelled = f"{typed_option(one.name)}/{_off(one)}" if switch else typed_option(one.name)
    completed = {"autocompletion": lambda incomplete: [c for c in one.choices if c.startswith(incomplete)]}
    said = typer.Option(spelled, callback=keep, expose_value=False, **completed if one.choices else {})  # type: ignore[arg-type]
    annotation = Annotated[bool | None if switch else str | None, said]
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def listed_tasks() -> list[tuple[str, str]]:
    """Machines with the names of the tasks that they learn; those that learn the same ones are together."""
    from kleene.teaching.makers import tasks_by_machine

    found: dict[str, list[str]] = {}
    for machine, tasks in tasks_by_machine().items():
        found.setdefault(", ".join(tasks), []).append(machine)
    return [(", ".join(machines), tasks) for tasks, machines in found.items()]


def _unbounded(spelled: str, help: str) -> tuple[str, str]:
    """An option of every task without its bounds, which errors name, so that the help fits on one screen."""
    words = spelled.replace("<int range>", "N").replace("<str>", "TEXT").replace("INTEGER RANGE", "N")
    return words, help.split("  [")[0]


def _shown(one: Any) -> tuple[str, str]:
    """The option and what the help says of it: what it is, its default and its bounds."""
    kind = next((kind for kind in one.types or (type(one.default),) if kind in SHOWN), None)
    spelled = typed_option(one.name)
    spelled += (
        f" / --{one.off or f'no-{one.name}'}" if one.types == (bool,) else f" {'TEXT' if kind is None else SHOWN[kind]}"
    )
    default = one.default
    if isinstance(default, bool):
        default = one.name if default else _off(one)[2:]
    elif isinstance(default, tuple):
        default = ",".join(map(str, default))
    facts = "" if default is None else f"default {default}"
    facts = "; ".join(filter(None, (facts, one.bounds)))
    return spelled, f"{one.help[:1].upper()}{one.help[1:]}" + (f" ({facts})" if facts else "")
