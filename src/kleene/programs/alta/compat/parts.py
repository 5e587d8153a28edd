"""The parts of a program with ALTA's own semantics, which are interpreted or lowered to a `Program` of Kleene's."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kleene.errors import ProgramError
from kleene.programs.alta.compat.mlp import AltaMLP
from kleene.programs.alta.compat.specs import CategoricalAttentionHeadSpec, head_spec
from kleene.programs.alta.definition import Halt
from kleene.programs.alta.variables import Categorical, Head, SetValued, Variable


@dataclass(frozen=True, repr=False)
class AltaProgramParts:
    """The parts of a program. `variables` includes the heads' outputs; `outputs` names the output variable."""

    variables: Mapping[str, Variable]
    input_range: int
    position_range: int | None
    outputs: str
    heads: Mapping[str, Head]
    mlp: AltaMLP
    halt_spec: Halt | None = None
    name: str = field(default="program", compare=False)

    def __post_init__(self) -> None:
        output, halt = self.outputs, self.halt_spec
        known = {n: v for n, v in self.variables.items() if n not in self.heads}
        if output not in known or isinstance(known[output], SetValued):
            raise ProgramError(f"{self.name}: the output {output!r} must be a categorical or numeric variable")
        if halt is not None and not isinstance(known.get(halt.variable), Categorical):
            raise ProgramError(f"{self.name}: it halts on {halt.variable!r}, which is not a categorical variable")

    def __repr__(self) -> str:
        return f"<ALTA program {self.name}: {len(self.variables)} variables, {len(self.heads)} heads>"

    @property
    def head_specs(self) -> list[CategoricalAttentionHeadSpec]:
        """The heads as ALTA describes them."""
        return [head_spec(name, head, self.variables[name]) for name, head in self.heads.items()]
