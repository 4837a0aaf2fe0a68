"""The evidence and the plan of a net as a page that a person reads: Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zxml.verify import Evidence
from zxml.z80gen.plan import Plan


def report(evidence: Evidence, plan: Plan) -> str:
    """Return the page: what was proved, what each step costs, where everything lies, and which kernels lost and why."""
    low, high = (100 * share for share in evidence.interval95)
    target = plan.target
    ms = 1000 * evidence.tstates_mean / target.clock_hz
    facts = [
        ("test pictures", f"{evidence.images:,}, of which {evidence.exact_images:,} exact in every score"),
        ("accuracy", f"{100 * evidence.accuracy:.2f} %, 95 % interval {low:.2f} to {high:.2f}"),
        ("time", f"{evidence.tstates_mean:,.0f} T-states on average, {evidence.tstates_worst:,} at most; {ms:.1f} ms"),
        ("TV frames", f"{evidence.frames_mean:.2f} of {target.frame_tstates:,} T-states"),
        ("memory", f"{evidence.nbytes:,} bytes of code, tables and buffers"),
        ("sums wrapped", f"on {evidence.wrapped_images} pictures, changing {evidence.digits_changed_by_wrapping} digits"),
        (
            "tape",
            f"loads through the ROM: {_yes(evidence.loads_through_rom)}; BREAK to BASIC: {_yes(evidence.returns_to_basic)}",
        ),
        ("seed", str(evidence.seed)),
        ("model, SHA-256", f"`{evidence.model_sha256}`"),
        ("tape, SHA-256", f"`{evidence.tap_sha256}`"),
    ]
    layers = [(row.name, row.kernel, f"{row.tstates:,.0f}", f"{row.nbytes:,}") for row in evidence.layers]
    emulators = [
        (row.name, row.version, *(f"{count:,}" for count in (row.images, row.exact_images, row.on_time_images)))
        for row in evidence.emulators
    ]
    costs = [(step.name, step.kernel.name, formula, f"{worst:,}") for step, formula, worst in plan.costs]
    return (
        "\n\n".join(
            [
                f"# {evidence.name} on a {target.name}",
                *(f"**Differs:** {difference}" for difference in evidence.differences),
                _table(("what", "measured"), facts),
                "## Steps",
                _table(("layer", "kernel", "T-states, mean", "bytes"), layers),
                _table(("layer", "kernel", "T-states", "at most"), costs),
                "## Processors",
                _table(("emulator", "version", "pictures", "exact", "on time"), emulators),
                "## Memory",
                f"```\n{plan.memory_map()}\n```",
                "## What lost, and why",
                _table(("kernels", "reason"), [(choice.name, choice.reason) for choice in plan.rejected]),
            ]
        )
        + "\n"
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
