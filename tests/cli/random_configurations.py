"""Random command lines and settings files, each with a fault for certain; nobody may meet a traceback or a folder left behind.

`bench.trust_configurations` makes hundreds of them, the tests one hundred.
"""

from __future__ import annotations

import math
import random
import string
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from interplay.core.settings import Settings
from interplay.core.settings_text import toml_value, union_members
from interplay.train.settings import TrainSettings

WORLD = "simulation/multi-corridor"
FILE = "settings.toml"


class Configuration(NamedTuple):
    """A command and the files that it finds in the working folder.

    Attributes:
        fault: what is wrong with it.
        words: the arguments.
        files: path -> bytes.
    """

    fault: str
    words: tuple[str, ...]
    files: Mapping[str, bytes] = MappingProxyType({})


def configuration(seed: int) -> Configuration:
    """The configuration of a seed."""
    rng = random.Random(seed)
    return rng.choice(_MAKERS)(rng)


def huge() -> list[Configuration]:
    """Numbers that fit their keys and no machine."""
    pairs = ("ppo.rollout=1000000000000", "num_worlds=1000000000000", "network.width=4000000000", "network.hidden=[4000000000]",
             "ppo.rollout=1e20")  # fmt: skip
    return [Configuration("too large", ("train", WORLD, given)) for given in pairs]


def odd_value(rng: random.Random) -> Any:
    """A value that no setting has."""
    return rng.choice(_ODD)(rng)


_ODD: Sequence[Callable[[random.Random], Any]] = (
    lambda r: -(10 ** r.randrange(1, 30)),
    lambda r: 10 ** r.randrange(20, 40),
    lambda r: r.choice([math.nan, math.inf, -math.inf]),
    lambda r: -r.random() * 10 ** r.randrange(1, 300),
    lambda r: word(r, 20),
    lambda r: "",
    lambda r: {"a": {"b": r.random()}},
    lambda r: [[[r.random()]], word(r, 3)],
    lambda r: nested(r.randrange(2, 60)),
)
_LETTERS = (
    string.ascii_letters
    + string.digits
    + "_-.:/ \t\n\r\x00\x07\x1b\x7f\x85\u2028\u202e\ufeffäß漢🐸\\\"'{}[]=#%$&;|<>*?~!"
)


def word(rng: random.Random, most: int) -> str:
    """A text of odd letters, at least one."""
    return "".join(rng.choice(_LETTERS) for _ in range(rng.randrange(1, most + 1)))


def nested(depth: int) -> Any:
    """Lists inside of each other."""
    return [] if depth == 0 else [nested(depth - 1)]


def keys(model: type[Settings] = TrainSettings, prefix: str = "") -> list[tuple[str, Any]]:
    """Every key of the settings with its annotation; groups too."""
    found: list[tuple[str, Any]] = []
    for name, field in model.model_fields.items():
        kind = field.annotation
        found.append((prefix + name, kind))
        if isinstance(kind, type) and issubclass(kind, Settings):
            found += keys(kind, f"{prefix}{name}.")
    return found


def wrong_for(rng: random.Random, kind: Any) -> Any:
    """A value of another type than a setting has."""
    wrong: list[Any] = [nested(3), {"zz": {"zz": 1}}]
    kinds = union_members(kind)
    if str not in kinds:
        wrong.append(f"x{word(rng, 8)}")
    if bool not in kinds:
        wrong.append(True)
    if float not in kinds:
        wrong += [1.5, math.nan, -math.inf, 1e20]
    if int not in kinds and float not in kinds:
        wrong += [7, 10**39]
    return rng.choice(wrong)


def pair(key: str, value: Any) -> str:
    """An override as it is typed."""
    return f"{key}={toml_value(value)}"


def _open_groups(key: str) -> bool:
    """Whether any value may stand below a key."""
    return key in ("world.options", "opponents", "population.groups")


def _wrong_type(rng: random.Random) -> Configuration:
    key, kind = rng.choice([entry for entry in keys() if not _open_groups(entry[0])])
    given = pair(key, wrong_for(rng, kind))
    return Configuration("wrong type", ("train", WORLD, *_fine(rng), given))


def _unknown_key(rng: random.Random) -> Configuration:
    groups = [
        "",
        *(f"{key}." for key, kind in keys() if isinstance(kind, type) and issubclass(kind, Settings)),
    ]
    name = "".join(rng.choice(string.ascii_lowercase) for _ in range(9)) + "_zz"
    given = pair(rng.choice(groups) + name, odd_value(rng))
    return Configuration("unknown key", ("train", WORLD, *_fine(rng), given))


def _scalar_group(rng: random.Random) -> Configuration:
    group = rng.choice([key for key, kind in keys() if isinstance(kind, type) and issubclass(kind, Settings)])
    return Configuration(
        "a group that is none", ("train", WORLD, f"{group}={rng.choice(['3', 'x', '[1]', 'nan'])}")
    )


def _no_pair(rng: random.Random) -> Configuration:
    text = rng.choice(
        ["=", "=3", "a.=1", ".a=1", "..=1", "a=", word(rng, 30).replace("=", "").lstrip("-") or "x"]
    )
    return Configuration("no override", ("train", WORLD, *_fine(rng), text))


def _deep_key(rng: random.Random) -> Configuration:
    deep = rng.randrange(40, 4_000)
    given = rng.choice([".".join(["a"] * deep) + "=1", f"ppo.clip={'[' * deep}", f"ppo={{{'a.' * deep}a=1}}"])
    return Configuration("too deep", ("train", WORLD, given))


def _long_number(rng: random.Random) -> Configuration:
    digits = rng.choice(["", "-"]) + "7" * rng.randrange(41, 9_000)
    key = rng.choice(["seed", "steps", "world.options.end", "ppo.clip", "zz", "train.workers"])
    if rng.random() < 0.5:
        return Configuration("a long number", ("train", WORLD, f"{key}={digits}"))
    text = f"seed = {digits}\n[world]\nid = '{WORLD}'\n"
    return Configuration("a long number in a file", ("train", FILE), {FILE: text.encode()})


def _bad_flag(rng: random.Random) -> Configuration:
    bad = rng.choice(["", "-1", "0", "x", "1e20", "nan", "1.5", "9" * 5_000, word(rng, 6)])
    flag = rng.choice(["--steps", "--num-worlds", "--workers"])
    if flag == "--workers" and bad == "1":
        bad = "3"
    return Configuration(f"{flag} {bad[:9]}", ("train", WORLD, f"{flag}={bad}"))


def _no_out(rng: random.Random) -> Configuration:
    empty = rng.choice(["", " ", "\t", "a\0b"])
    verb = rng.choice([("train", WORLD), ("tournament", "random", "walker", "--world", WORLD), ("curves", "run"),
                       ("record", "random", "--world", WORLD), ("talk", "random", "--world", WORLD)])  # fmt: skip
    return Configuration("no --out", (*verb, "--out", empty))


def _bad_world(rng: random.Random) -> Configuration:
    name = rng.choice(["", "zz", "../../etc/passwd", f"{WORLD}x", "nowhere:World", ":", "a:", ":b", "os:getcwd", "os:zz",
                       "a\0b", word(rng, 12).lstrip("-").replace("=", "") + "/zz"])  # fmt: skip
    verb = rng.choice([("train", name), ("evaluate", "random", "--world", name or "zz", "--episodes", "1"),
                       ("tournament", "random", "walker", "--world", name or "zz", "--out", "cup")])  # fmt: skip
    return Configuration("no world", tuple(verb))


def _bad_option(rng: random.Random) -> Configuration:
    option = rng.choice(
        [
            pair("end", rng.choice([0, -3, 1.5, "x", True, math.nan, 2**70, nested(3)])),
            pair("num_agents", rng.choice([0, -3, 1.5, "x", False, math.inf, nested(40)])),
            pair("zz", odd_value(rng)),
            "end.zz=1",
        ]
    )
    verb = rng.choice([("evaluate", "random", option, "--world", WORLD, "--episodes", "1"),
                       ("transcript", "random", option, "--world", WORLD),
                       ("train", WORLD, f"world.options.{option}"),
                       ("tournament", "random", "walker", "--world", WORLD, "--option", option, "--out", "cup")])  # fmt: skip
    return Configuration("a bad option", tuple(verb))


def _bad_number(rng: random.Random) -> Configuration:
    bad = rng.choice(["0", "-1", "x", "", "1.5", "nan", "1e9", "8" * 5_000])
    flags = {"evaluate": ("--episodes", "--num-worlds", "--max-steps"), "transcript": ("--episodes", "--max-steps"),
             "tournament": ("--matches", "--per-match", "--max-steps", "--window")}  # fmt: skip
    verb = rng.choice(list(flags))
    more = ("random", "walker", "--out", "cup") if verb == "tournament" else ("random",)
    return Configuration("a bad number", (verb, *more, "--world", WORLD, f"{rng.choice(flags[verb])}={bad}"))


def _bad_player(rng: random.Random) -> Configuration:
    name = rng.choice(
        [
            "zz",
            "runs/nothing",
            "nowhere:Player",
            "os:getcwd",
            ":",
            "a:",
            "a\0b",
            "/",
            word(rng, 12).lstrip("-=") + "/",
        ]
    )
    name = name.replace("=", "")
    verb = rng.choice([("evaluate", name, "--world", WORLD), ("transcript", name, "--world", WORLD),
                       ("tournament", name, "random", "--world", WORLD, "--out", "cup"),
                       ("evaluate", "random", "--world", WORLD, "--roles", name),
                       ("evaluate", "random", "--world", WORLD, "--roles", f"zz={name}")])  # fmt: skip
    return Configuration("no player", tuple(verb))


def _bad_file(rng: random.Random) -> Configuration:
    """A file that is no TOML, or says nothing that can be trained."""
    good = f'[world]\nid = "{WORLD}"\n'.encode()
    data = rng.choice(
        [
            b"",
            b"\xef\xbb\xbf" + good,
            good.decode().encode("utf-16"),
            good + b"\x00",
            good + good,
            good[: rng.randrange(1, 8)],
            rng.randbytes(rng.randrange(1, 300)) + b"\xff",
            b"a = " + b"[" * rng.randrange(100, 50_000),
            b"[" + b".".join([b"a"] * rng.randrange(100, 50_000)) + b"]",
            b"#" * (1 << 20) + b"\n" + good,
            b"seed = 1979-05-27\n" + good,
            f"{word(rng, 20)}\x00".encode(),
            "\n".join(f"{key} = {toml_value(odd_value(rng))}" for key in ("zz", "yy")).encode()
            + b"\n"
            + good,
        ]
    )
    verb = rng.choice([("train", FILE), ("train", FILE, *_fine(rng))])
    return Configuration("a bad file", verb, {FILE: data})


def _bad_folder(rng: random.Random) -> Configuration:
    """A folder that a run or a tournament was to be in."""
    broken = _bad_file(rng).files[FILE]
    verb, name = rng.choice([(("evaluate", "it"), FILE), (("resume", "it"), FILE), (("curves", "it", "--out", "a.png"), FILE),
                             (("tournament", "it", "random", "--out", "cup"), FILE),
                             (("tournament", "--resume", "--out", "it"), "tournament.toml"),
                             (("train", WORLD, "--start-from", "it"), FILE), (("visualize", "it"), FILE)])  # fmt: skip
    return Configuration(
        "a bad folder", verb, {f"it/{name}": broken, "it/checkpoints/7/manifest.json": broken}
    )


def _bad_line(rng: random.Random) -> Configuration:
    words = rng.choice([("zz",), ("train",), ("evaluate",), ("train", WORLD, "--zz"), ("--zz",), ("train", "--out"),
                        ("tournament",), ("tournament", "random", "--world", WORLD, "--out", "cup"),
                        ("tournament", "random", "random", "--world", WORLD, "--out", "cup"),
                        ("tournament", "random", "walker", "--merge", "--world", WORLD, "--caps", "x", "--out", "cup"),
                        ("train", "nothing.toml"), ("train", "nothing.py"), ("train", WORLD, "--start-from", "nothing"),
                        ("resume", "nothing"), ("resume", "a\0b"), ("curves", "nothing"), ("talk", "nothing/zz"),
                        ("record", "random", "--world", WORLD, "--out", "a.zz"),
                        ("record", "random", "--world", WORLD, "--out", "no/such/folder/a.png"),
                        ("train", WORLD, "num_worlds=6"), ("train", WORLD, "train.shards=3"), ("train", WORLD, "network.heads=5", "network.kind=attention"),
                        ("train", WORLD, "network.kind=zz"), ("train", WORLD, "opponents.zz=random"), ("train", WORLD, "pool.populations=[zz]"),
                        ("train", WORLD, "train.start_from=\"a\\u0000b\""), ("train", WORLD, "alternate.metric=zz"), ("train", WORLD, "belief.about=zz")])  # fmt: skip
    return Configuration("a bad line", tuple(words))


def _fine(rng: random.Random) -> tuple[str, ...]:
    """Overrides that are right, beside the fault."""
    fine = (
        "seed=3",
        "steps=10",
        "ppo.clip=0.3",
        "network.hidden=[8]",
        "train.quiet=true",
        "train.log_every=2",
    )
    return tuple(rng.sample(fine, rng.randrange(3)))


_MAKERS = (
    _wrong_type,
    _wrong_type,
    _unknown_key,
    _scalar_group,
    _no_pair,
    _deep_key,
    _long_number,
    _bad_flag,
    _no_out,
    _bad_world,
    _bad_option,
    _bad_number,
    _bad_player,
    _bad_file,
    _bad_file,
    _bad_folder,
    _bad_line,
)
