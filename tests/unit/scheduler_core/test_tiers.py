"""The policy file: Volcano's own, with what Volcano would ignore in silence said aloud."""

import pytest

from pipeline.cli import failures
from pipeline.errors import ConfigInvalid
from scheduler_core import plugins, tiers
from scheduler_core.model.policy import FLAGS


def parsed(text):
    return tiers.parse(text, "policy.conf", plugins.ALL)


def plugin(text, name="gang"):
    policy = parsed(f'actions: "allocate"\ntiers:\n- plugins:\n  - name: {name}\n{text}').policy
    return policy.tiers[0][0]


def problems(text):
    with pytest.raises(ConfigInvalid) as raised:
        parsed(text)
    return raised.value.problems


def test_the_default_is_volcanos():
    policy = tiers.default(plugins.ALL)
    assert policy.actions == ("enqueue", "allocate", "backfill")
    assert [[choice.name for choice in tier] for tier in policy.tiers] == [
        ["priority", "gang", "conformance"], ["overcommit", "drf", "predicates", "proportion", "nodeorder"],
    ]  # fmt: skip
    assert policy.all_abstain
    assert policy.tiers[0][0].enabled == {flag for flag, on in FLAGS.items() if on}


def test_flags_that_are_not_named_have_volcanos_defaults_and_two_are_off():
    enabled = plugin("").enabled
    assert "jobOrder" in enabled
    assert not {"hierarchy", "clusterOrder"} & enabled


@pytest.mark.parametrize("key", ["enablePreemptable", "enabledPreemptable"])
def test_a_flag_counts_in_either_spelling(key):
    assert "preemptable" not in plugin(f"    {key}: false\n").enabled


@pytest.mark.parametrize(
    ("wrong", "right"), [("enabledJobOrder", "enableJobOrder"), ("enableOverused", "enabledOverused")]
)
def test_the_spelling_that_volcano_would_ignore_is_warned_about_with_its_line(wrong, right):
    text = f'actions: "allocate"\ntiers:\n- plugins:\n  - name: drf\n    {wrong}: false\n'
    found = parsed(text)
    assert found.warnings == [
        f"policy.conf:5:5: tiers[0].plugins[0].{wrong}: Volcano reads this flag only as {right}; taken as meant"
    ]


def test_of_both_spellings_volcanos_own_counts():
    assert "jobOrder" in plugin("    enabledJobOrder: false\n    enableJobOrder: true\n").enabled
    assert "jobOrder" in plugin("    enableJobOrder: true\n    enabledJobOrder: false\n").enabled


def test_words_for_truth_count_and_other_words_are_errors():
    assert "jobOrder" not in plugin("    enableJobOrder: off\n").enabled
    assert problems('actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: maybe\n') == [
        "policy.conf:5:5: tiers[0].plugins[0].enableJobOrder: must be true or false, not 'maybe'"
    ]


def test_unknown_keys_at_every_level_are_warned_about_with_a_suggestion():
    found = parsed(
        'actions: "allocate"\nteirs: []\ntiers:\n- plugin: []\n  plugins:\n  - name: binpack\n    enablePreemtable: true\n'
        "    arguments:\n      binpack.wieght: 5\nconfigurations:\n- name: alocate\n- name: allocate\n  argument: {}\n"
    )
    assert found.warnings == [
        "policy.conf:2:1: teirs: unknown section, ignored (did you mean tiers?)",
        "policy.conf:4:3: tiers[0].plugin: unknown key, ignored (did you mean plugins?)",
        "policy.conf:7:5: tiers[0].plugins[0].enablePreemtable: unknown key, ignored (did you mean enablePreemptable?)",
        "policy.conf:9:7: tiers[0].plugins[0].arguments.binpack.wieght: unknown argument, ignored (did you mean binpack.weight?)",
        "policy.conf:11:3: configurations[0].name: no action 'alocate' (did you mean allocate?); ignored",
        "policy.conf:13:3: configurations[1].argument: unknown key, ignored (did you mean arguments?)",
    ]


def test_an_unknown_plugin_is_left_out_with_a_warning_as_volcano_does():
    found = parsed('actions: "allocate"\ntiers:\n- plugins:\n  - name: numaaware\n  - name: gagn\n  - name: drf\n')
    assert [choice.name for choice in found.policy.tiers[0]] == ["drf"]
    assert [line.split(": ", 2)[2] for line in found.warnings] == [
        "the plugin numaaware is not built here; it is left out",
        "the plugin gagn is not known; it is left out (did you mean gang?)",
    ]


def test_action_names_are_trimmed_and_nothing_more():
    assert parsed('actions: " enqueue ,allocate"\ntiers: []\n').policy.actions == ("enqueue", "allocate")
    for actions in ("Enqueue", "enqueue,", ""):
        assert problems(f'actions: "{actions}"\ntiers: []\n')
    assert problems("tiers: []\n") == ['policy.conf:1:1: actions: missing, such as "enqueue, allocate, backfill"']


def test_an_action_of_volcano_that_is_not_built_is_left_out_with_a_warning():
    found = parsed('actions: "allocate, shuffle"\ntiers: []\n')
    assert found.policy.actions == ("allocate",)
    assert "shuffle is not built here" in found.warnings[0]


def test_drf_with_hierarchy_beside_proportion_is_an_error():
    text = 'actions: "allocate"\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n  - name: proportion\n'
    assert "exclude each other" in problems(text)[0]


@pytest.mark.parametrize(
    "text",
    ["a: [", "\t", "- 1", "tiers: {}\nactions: allocate", "tiers: [1]\nactions: allocate", 'actions: [1]\ntiers: []',
     "tiers:\n- plugins:\n  - {}\nactions: allocate", "tiers:\n- plugins:\n  - name: gang\n    arguments: 3\nactions: allocate",
     "actions: allocate\ntiers: []\nall_abstain: perhaps"],
)  # fmt: skip
def test_a_file_that_cannot_be_used_says_where(text):
    assert all(line.startswith("policy.conf:") for line in problems(text))


def test_the_config_map_that_holds_the_file_can_be_pasted_too():
    found = parsed(
        'apiVersion: v1\nkind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n    actions: "allocate"\n    tiers:\n'
        "    - plugins:\n      - name: gang\n        enablePremptable: true\n"
    )
    assert found.policy.actions == ("allocate",)
    assert found.warnings[0].startswith("policy.conf(volcano-scheduler.conf):5:5:")


def test_action_arguments_and_the_other_reading_of_abstentions():
    found = parsed(
        'actions: "preempt"\ntiers: []\nall_abstain: reject\nconfigurations:\n- name: preempt\n  arguments:\n'
        "    enableTopologyAwarePreemption: true\n"
    )
    assert found.policy.arguments_of("preempt") == {"enableTopologyAwarePreemption": True}
    assert found.policy.arguments_of("allocate") == {}
    assert not found.policy.all_abstain


SLA = 'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: sla\n{more}'


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("  - name: gang\n", "jobPipelined vote changes nothing beside gang"),
        ("  - name: proportion\n", "jobEnqueued vote changes nothing beside proportion"),
        (
            "    arguments: {sla-waiting-time: 3600}\n",
            "is no text, so there is no global promise: write it with a unit and quotes, such as '3600s'",
        ),
        ("    arguments: {sla-waiting-time: true}\n", "such as '1h'"),
        ("    arguments: {sla-waiting-time: }\n", "is no text"),
        ("    arguments: {sla-waiting-time: 1d}\n", "there is no global promise"),
        ("    arguments: {sla-waiting-time: '-1h'}\n", "is not above zero"),
    ],
)
def test_what_sla_cannot_do_is_said(more, says):
    assert says in "\n".join(parsed(SLA.format(more=more)).warnings)


def test_sla_alone_in_the_first_tier_is_as_it_should_be():
    text = SLA.format(more="    arguments: {sla-waiting-time: 1h}\n- plugins:\n  - name: gang\n  - name: proportion\n")
    assert parsed(text).warnings == []


def test_sla_below_a_plugin_that_decides_is_never_asked():
    text = 'actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n  - name: sla\n'
    assert "is never asked: gang above it always decides" in parsed(text).warnings[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'actions: "reclaim"\ntiers:\n- plugins:\n  - name: gang\n- plugins:\n  - name: proportion\n',
            "hardly ever asked",
        ),
        ('actions: "allocate"\ntiers:\n- plugins:\n  - name: proportion\n  - name: capacity\n', "use one of them"),
        ('actions: "allocate"\ntiers:\n- plugins:\n  - name: drf\n  - name: drf\n', "given twice"),
        ('actions: "preempt"\ntiers:\n- plugins:\n  - name: drf\n', "preempt does nothing"),
        ('actions: "allocate"\ntiers:\n- plugins:\n  - name: overcommit\n', "nobody asks it"),
        ('actions: "allocate"\ntiers: []\n', "no plugin is left"),
        ('actions: "allocate"\ntiers:\n- plugins:\n  - name: nodegroup\n', "no plugin is left"),
        ('actions: "elect"\ntiers:\n- plugins:\n  - name: gang\n', "no action is left"),
    ],
)
def test_combinations_without_effect_are_warned_about(text, says):
    assert says in "\n".join(parsed(text).warnings)


PASTED = """\
# comment of the chart
actions: "enqueue, allocate, backfill, preempt, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
    enabledReclaimable: true
- plugins:
  - name: overcommit
    arguments:
      overcommit-factor: 1.5
  - name: drf
    enableHierarchy: false
  - name: predicates
    arguments:
      predicate.NodeAffinityEnable: true
      predicate.CacheEnable: false
  - name: capacity
    enabledHierarchy: true
  - name: nodeorder
    arguments: {leastrequested.weight: 2, nodeaffinity.weight: 1}
  - name: binpack
    arguments:
      binpack.weight: 10
      binpack.cpu: 5
      binpack.resources: nvidia.com/gpu
      binpack.resources.nvidia.com/gpu: 8
configurations:
- name: allocate
  arguments:
    predicateErrorCacheEnable: true
metrics:
  type: prometheus
  interval: 30s
"""


def test_a_whole_file_of_volcano_is_pasted_unchanged_in_either_spelling():
    found = parsed(PASTED)
    assert found.policy.actions == ("enqueue", "allocate", "backfill", "preempt", "reclaim")
    flags = {choice.name: choice.enabled for tier in found.policy.tiers for choice in tier}
    assert "preemptable" not in flags["gang"] and "reclaimable" in flags["conformance"]
    assert "hierarchy" in flags["capacity"] and "hierarchy" not in flags["drf"]
    assert [line.split(": ", 2)[2].split(":")[0] for line in found.warnings] == [
        "Volcano reads this flag only as enableReclaimable; taken as meant",
        "its word on who may be reclaimed is hardly ever asked",
        "Volcano reads this flag only as enableHierarchy; taken as meant",
    ]


@pytest.mark.parametrize("cut", range(0, len(PASTED), 29))
def test_a_file_that_is_cut_off_inside_is_an_error_that_says_where(cut):
    with pytest.raises(ConfigInvalid) as error:
        parsed(PASTED[:cut] + "\t[")
    assert error.value.problems and "policy.conf" in error.value.problems[0]


def test_a_policy_nested_too_deeply_is_said_to_be_so():
    with pytest.raises(ConfigInvalid, match="nesting is too deep"):
        tiers.parse("[" * 3000, "deep.conf", plugins.ALL)


@pytest.mark.parametrize(
    ("plugin", "argument", "what"),
    [
        ("binpack", "binpack.weight: ten", "'ten' is no whole number"),
        ("binpack", "binpack.cpu: [1]", "[1] is no whole number"),
        ("binpack", f"binpack.memory: {'9' * 30}", f"{'9' * 30} is no whole number"),
        ("binpack", f"binpack.memory: {'9' * 5000}", f"'{'9' * 39} is no whole number"),
        ("binpack", "binpack.resources: [nvidia.com/gpu]", "['nvidia.com/gpu'] is no text"),
        ("binpack", "binpack.resources.nvidia.com/gpu: {}", "{} is no whole number"),
        ("nodeorder", "leastrequested.weight: true", "True is no whole number"),
        ("overcommit", "overcommit-factor: much", "'much' is no number"),
        ("overcommit", "overcommit-factor: nan", "'nan' is no number"),
        ("capacity", "ancestorReclaimLevel: 1h", "'1h' is no whole number"),
        ("predicates", "predicate.NodePortsEnable: perhaps", "'perhaps' is neither true nor false"),
        ("network-topology-aware", "hypernode.binpack.normal-pod.enable: 2", "2 is neither true nor false"),
    ],
)
def test_an_argument_that_cannot_be_read_counts_as_not_given_and_is_told(plugin, argument, what):
    text = f"actions: enqueue\ntiers:\n- plugins:\n  - name: {plugin}\n    arguments: {{{argument}}}\n"
    name = argument.partition(": ")[0]
    (warning,) = parsed(text).warnings
    assert warning == f"policy.conf:5:17: tiers[0].plugins[0].arguments.{name}: {what}; the default applies"


def test_arguments_that_can_be_read_are_not_doubted():
    given = "binpack.weight: 10, binpack.cpu: '5', binpack.resources: x, binpack.resources.x: 0, binpack.memory:"
    text = f"actions: enqueue\ntiers:\n- plugins:\n  - name: binpack\n    arguments: {{{given}}}\n"
    assert parsed(text).warnings == []


@pytest.mark.parametrize("start", ["&0 [x, x, x, x, x, x, x, x, x, x]", "&0 {}"])
def test_aliases_that_make_billions_of_values_are_refused_at_once(start):
    lines = [f"l0: {start}"]
    for at in range(1, 12):
        again = ", ".join([f"*{at - 1}"] * 10)
        lines.append(f"l{at}: &{at} {{<<: [{again}]}}" if "{" in start else f"l{at}: &{at} [{again}]")
    with pytest.raises(ConfigInvalid, match="its aliases make more than 100000 values"):
        tiers.parse("\n".join(lines), "bomb.conf", plugins.ALL)


def test_a_policy_that_cannot_be_used_is_told_as_a_policy_with_advice_about_policies(capsys):
    with pytest.raises(ConfigInvalid) as raised:
        tiers.parse("tiers: 5", "p.yaml", {})
    assert failures.show(raised.value) == 3
    said = capsys.readouterr().err
    assert "the policy cannot be used" in said and "volcano-scheduler.conf" in said and "config docs" not in said
