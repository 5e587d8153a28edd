"""What ALTA's interpreter means where Kleene's own is stricter or other: ranges, conflicts, heads, layers, halting."""

import pytest

from kleene.errors import HaltError, InputError, ProgramError, RunError, UndefinedAttentionError, WriteError
from kleene.programs.alta import compat as pb


def run(program, ids, position_shift=0, **options):
    return pb.run_transformer(program, pb.initialize_activations(program, ids, position_shift), **options)


def counter(range=4, **options):
    """Adds 1 in every layer, and so leaves its range in the end."""

    def ffn_fn(z):
        z["count"] = z["count"] + 1

    return pb.program_spec({"count": pb.input_var(range)}, {}, ffn_fn, "count", range, **options)


def test_a_run_takes_one_layer_more_than_max_layers_and_gives_what_it_has():
    assert run(counter(9), [0, 3], max_layers=1) == [2, 5]
    assert run(counter(9, halt=pb.halt_spec("count", 8)), [0, 3], max_layers=2) == [3, 6]


def test_halting_is_looked_at_after_a_layer():
    program = counter(9, halt=pb.halt_spec("count", 3))
    assert run(program, [2], max_layers=None) == [3]
    assert run(program, [3], max_layers=4) == [8]  # past it before it was looked at


def test_a_run_without_an_end_needs_max_layers():
    with pytest.raises(InputError, match=r"`max_layers` must be given"):
        run(counter(), [0], max_layers=None)


def test_a_run_that_comes_back_to_where_it_was_is_refused_as_endless():
    def ffn_fn(z):
        z["bit"] = 1 - z["bit"]

    variables = {"bit": pb.input_var(2), "done": pb.var(2)}
    program = pb.program_spec(variables, {}, ffn_fn, "bit", 2, halt=pb.halt_spec("done"))
    with pytest.raises(HaltError):
        run(program, [0, 1], max_layers=None)


def test_the_empty_input_gives_the_empty_output():
    assert run(counter(), []) == []
    assert pb.run_transformer(pb.compile_transformer(counter()), None, []) == []


@pytest.mark.parametrize("generate_rules", [True, False])
def test_a_write_out_of_range_is_an_error_only_where_it_fires(generate_rules):
    program = counter(generate_rules=generate_rules)
    assert run(program, [0, 1], max_layers=1) == [2, 3]
    with pytest.raises(
        WriteError, match=r"layer 3, at position 1 .*'count' is set to 4, but it takes an integer in 0..3"
    ):
        run(program, [0, 1], max_layers=2)


def test_two_rules_conflict_only_where_both_fire_and_differ():
    variables = {
        "a": pb.input_var(2, init_fn=lambda t: t // 2),
        "b": pb.input_var(2, init_fn=lambda t: t % 2),
        "out": pb.var(4),
    }
    x = pb.MLPBuilder(variables, {})
    for a in x.get("a"):
        if a:
            x.set("out", 1)
            x.set("out", 1)  # the same once more: two rules that agree
    for b in x.get("b"):
        if b:
            x.set("out", 2)
    program = pb.program_spec_from_rules(variables, {}, x.rules, "out", 4)
    assert run(program, [0, 1, 2], max_layers=1) == [0, 2, 1]
    with pytest.raises(
        WriteError, match=r"position 3 .*two rules set 'out' at once: out := 1 where a = 1.*out := 2 where b = 1"
    ):
        run(program, [0, 1, 2, 3], max_layers=1)


def test_a_rule_that_changes_nothing_is_no_rule():
    x = pb.MLPBuilder({"bit": pb.input_var(2)}, {})
    x.set("bit", 1)
    assert x.rules == [pb.Rule((pb.LHSAtom("bit", 0),), pb.RHS("bit", 0, 1))]


def test_leaving_a_loop_of_the_builder_by_break_leaves_nothing_in_scope():
    x = pb.MLPBuilder({"a": pb.var(3), "b": pb.var(2)}, {})
    for _ in x.get("a"):
        break
    x.set("b", 1)
    assert [atom.variable for atom in x.rules[0].lhs] == ["b"]


def chained(output=None):
    """Each position names the one that it points to, and by way of that the one after next."""

    def ffn_fn(z):
        z["far"] = z["second"]

    variables = {"to": pb.input_var(6), "here": pb.position_var(6), "far": pb.var(6)}
    heads = {"first": pb.qkv("to", "here", "to"), "second": pb.qkv("first", "here", "to", output_spec=output)}
    return pb.program_spec(variables, heads, ffn_fn, "far", 6, 6, generate_rules=False)


def test_a_head_may_ask_with_what_an_earlier_head_of_the_layer_has_read():
    assert run(chained(), [1, 2, 0, 3], max_layers=1) == [0, 1, 2, 3]


def test_a_head_that_asks_with_what_was_not_read_is_an_error_that_names_the_earlier_head():
    with pytest.raises(UndefinedAttentionError, match=r"layer 1, at position 1 .*head 'first'.*no position matches"):
        run(chained(), [1, 5, 0], max_layers=1)


def test_a_head_that_asks_with_what_a_later_one_reads_is_refused():
    variables = {"a": pb.input_var(2)}
    with pytest.raises(ProgramError, match=r"head 'first': the query is 'second'.*comes later"):
        pb.MLPBuilder(variables, {"first": pb.qkv("second", "a", "a"), "second": pb.qkv("a", "a", "a")})


def looking(function, generate_rules):
    variables, heads = {"a": pb.input_var(3), "b": pb.var(3)}, {"right": pb.v_relative("a", 1)}
    return pb.program_spec(variables, heads, function, "b", 3, generate_rules=generate_rules)


def test_a_function_that_reads_an_undefined_head_is_an_error_that_says_why():
    def ffn_fn(z):
        z["b"] = z["right"]

    with pytest.raises(UndefinedAttentionError, match=r"position 2 .*'right'.*off the edge"):
        run(looking(ffn_fn, False), [0, 1, 2], max_layers=1)


def test_a_rule_that_names_an_undefined_head_does_not_fire():
    def ffn_fn(z):
        z["b"] = z["right"]

    program = looking(ffn_fn, True)
    assert run(program, [0, 1, 2], max_layers=1) == [1, 2, 0]
    sparse = pb.program_spec_from_rules(
        {"a": pb.input_var(3), "b": pb.var(3)}, {"right": pb.v_relative("a", 1)},
        [r for r in program.mlp.get_rules() if r.rhs.new_value is not None], "b", 3,
    )  # fmt: skip
    assert run(sparse, [0, 1, 2], max_layers=1) == [1, 2, 0]


def test_an_input_may_start_at_a_later_position():
    program = pb.program_spec({"place": pb.position_var(9)}, {}, lambda z: None, "place", 2)
    assert run(program, [0, 1], position_shift=5, max_layers=1) == [5, 6]
    with pytest.raises(InputError, match=r"'place' starts as 9 for token 1 at position 9"):
        run(program, [0, 1], position_shift=8, max_layers=1)


def test_a_token_outside_the_input_range_is_refused():
    with pytest.raises(InputError, match=r"token 1 is -1"):
        run(counter(), [0, -1], max_layers=1)


def test_an_output_may_be_a_number():
    def ffn_fn(z):
        z["share"] = z["mean"]

    variables = {"one": pb.numeric_var(input_init_fn=float), "any": pb.var(1), "share": pb.numeric_var()}
    program = pb.program_spec(
        variables, {"mean": pb.qkv("any", "any", "one")}, ffn_fn, "share", 2, generate_rules=False
    )
    assert run(program, [1, 0, 0, 1, 1], max_layers=1) == [0.6] * 5


def test_a_set_may_be_written_and_asks_for_all_its_members():
    def ffn_fn(z):
        z["mean_so_far"] = z["mean"]
        z["wanted"] = frozenset({1, 2})

    variables = {
        "token": pb.input_var(3),
        "number": pb.numeric_var(input_init_fn=lambda t: 10.0 * t),
        "wanted": pb.set_var(range=3, default=frozenset({0})),
        "mean_so_far": pb.numeric_var(),
    }
    heads = {"mean": pb.qkv("wanted", "token", "number")}
    program = pb.program_spec(variables, heads, ffn_fn, "mean_so_far", 3, generate_rules=False)
    assert run(program, [0, 1, 2, 2], max_layers=1) == [pytest.approx(50 / 3)] * 4


def test_rules_of_undeclared_numbers_are_refused_when_the_program_is_built():
    with pytest.raises(ProgramError, match=r"`values` of the numeric variable 'n'"):
        pb.program_spec({"n": pb.numeric_var(), "a": pb.var(2)}, {}, lambda z: None, "a", 2)


def test_a_function_without_rules_has_none():
    with pytest.raises(ProgramError, match=r"generate_rules=False"):
        counter(generate_rules=False).mlp.get_rules()


def test_generated_rules_name_every_variable_and_empty_the_heads():
    def ffn_fn(z):
        z["b"] = z["right"]

    rules = looking(ffn_fn, True).mlp.get_rules()
    assert len(rules) == 3 * 3 * 3 - 3 * 3 + 3
    assert [atom.variable for atom in rules[0].lhs] == ["a", "b", "relative_qk", "right"]
    assert sum(rule.rhs.new_value is None for rule in rules) == 3


def test_the_program_shows_its_parts_under_alta_s_names():
    program = counter(halt=pb.halt_spec(halt_var="count", halt_value=3))
    assert (program.outputs, program.input_range, program.position_range) == ("count", 4, None)
    assert program.halt_spec == pb.HaltSpec("count", 3)
    assert isinstance(program.variables["count"], pb.CategoricalVarSpec)
    assert chained().head_specs[1] == pb.CategoricalAttentionHeadSpec("first", "here", "to", "second")
    assert list(chained().variables) == ["to", "here", "far", "first", "second"]


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (lambda z: z["nothing"], "'nothing'.*did you mean"),
        (lambda z: z.__setitem__("right", 1), "'right'.*only attention"),
    ],
)
def test_a_name_that_is_not_there_or_not_the_mlp_s_to_set_is_refused(wrong, match):
    variables, heads = {"a": pb.input_var(2), "noting": pb.var(2)}, {"right": pb.v_relative("a", 1)}
    program = pb.program_spec(variables, heads, wrong, "a", 2, generate_rules=False)
    with pytest.raises(ProgramError, match=match):
        run(program, [0, 1], max_layers=1)


def test_an_error_of_the_function_says_where_it_happened():
    def ffn_fn(z):
        z["a"] = 1 // z["a"]

    program = pb.program_spec({"a": pb.input_var(3)}, {}, ffn_fn, "a", 3, generate_rules=False)
    with pytest.raises(RunError, match=r"layer 1, at position 1 .*the MLP's function raised ZeroDivisionError"):
        run(program, [1, 0], max_layers=1)


def test_the_loggers_tell_every_variable_and_how_often_each_rule_fired(capsys):
    program = counter(9)
    logger, rules = pb.ActivationsLogger(), pb.MLPLogger()
    run(program, [0, 0, 3], max_layers=1, logger=logger, logger_mlp=rules)
    assert logger.get_variable_values(2, "count") == [3, 3, 4, 4, 5]
    logger.print_activations_table(elements_to_include=[0])
    assert capsys.readouterr().out == "Element,Variable,Input,L0a,L0b,L1a,L1b\n0,count,0,0,1,1,2\n"
    assert sorted(rules.counts.values()) == [1, 1, 2, 2]
    assert rules.seen == set(rules.counts)
