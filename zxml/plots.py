"""Plots of what the nets and the lessons reach beside what others have published: SVG, the same bytes for the same figures.

Text stays text. The errors of readers lie on a logarithmic scale, so that 98 and 99 % are as far apart as 96 and 98 %.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zxml.bench import Row
from zxml.errors import ZxmlError
from zxml.files import write_whole
from zxml.lessons import COUNTING, SEED_NET, Lesson
from zxml.published import Published, Reader
from zxml.z80gen.target import SPECTRUM_48K

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

SIZE = (8.0, 4.8)  # inches
OURS, SMALL, LARGE, QUIET = "#c01c28", "#1a5fb4", "#77767b", "#9a9996"  # zxml; processors of 8 bits; of 32; lines and notes
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "zxml",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
Place = tuple[tuple[int, int], Literal["left", "center", "right"]]
PLACES: tuple[Place, ...] = (  # of a name beside its mark: the offset in points, and which side of the name is there
    ((7, -3), "left"),
    ((-7, -3), "right"),
    ((0, 8), "center"),
    ((0, -14), "center"),
    ((5, 7), "left"),
    ((5, -13), "left"),
    ((-5, 7), "right"),
    ((-5, -13), "right"),
    ((3, -24), "left"),
    ((-3, -24), "right"),
    ((3, 18), "left"),
    ((-3, 18), "right"),
)
ACCURACIES = (0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995)
TIMES = ((10, "10 s"), (60, "1 min"), (600, "10 min"), (3600, "1 h"), (36_000, "10 h"))


@dataclass(frozen=True)
class Mark:
    """A point of a plot, and the name beside it; symbol: matplotlib's."""

    x: float
    y: float
    name: str
    colour: str
    symbol: str


def write_plots(folder: Path, rows: Sequence[Row], lessons: Sequence[Lesson], published: Published) -> list[Path]:
    """Write accuracy.svg and learning_time.svg to a folder and return their paths; raise ZxmlError without matplotlib."""
    plots = {"accuracy.svg": accuracy_svg(rows, published), "learning_time.svg": learning_svg(lessons, published)}
    for name, content in plots.items():
        write_whole(folder / name, content)
    return [folder / name for name in plots]


def accuracy_svg(rows: Sequence[Row], published: Published) -> bytes:
    """Return the plot of accuracy against T-states a picture, or cycles where the processor is another one."""
    figure, axes = _open_figure("T-states a picture, or cycles of another processor")
    axes.set_xscale("log")
    axes.set_xlim(1e4, 3e8)
    axes.set_yscale("log")
    axes.set_ylim(0.35, 0.0035)  # errors
    axes.set_yticks([1 - share for share in ACCURACIES], [f"{100 * share:g} %" for share in ACCURACIES])
    axes.minorticks_off()
    axes.axvline(SPECTRUM_48K.frame_tstates, color=QUIET, linewidth=0.8, linestyle=":", zorder=0)
    axes.text(0.92 * SPECTRUM_48K.frame_tstates, 0.32, "one TV frame", color=QUIET, rotation=90, ha="right")
    for row in rows:
        low, high = row.interval95
        axes.plot([row.tstates_mean] * 2, [1 - low, 1 - high], color=OURS, linewidth=1.2)
        axes.plot([row.tstates_mean, row.tstates_worst], [1 - row.accuracy] * 2, color=OURS, linewidth=1.2)
    keys = [
        ("zxml on a ZX Spectrum: mean to worst, 95 % interval", OURS, "o"),
        ("published, processor of 8 bits", SMALL, "s"),
        ("published, processor of 32 bits", LARGE, "^"),
    ]
    for text, colour, symbol in keys:
        axes.plot([], [], color=colour, marker=symbol, linestyle="", label=text)
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.55), frameon=False)
    ours = [Mark(row.tstates_mean, 1 - row.accuracy, row.name, OURS, "o") for row in rows]
    _draw(figure, axes, [*ours, *filter(None, map(_mark_of, published.readers))])
    return _close_figure(figure)


def learning_svg(lessons: Sequence[Lesson], published: Published) -> bytes:
    """Return the plot of accuracy against the machine's time of learning."""
    figure, axes = _open_figure("the machine's time of learning")
    axes.set_xscale("log")
    axes.set_xlim(5, 1.5e5)
    axes.set_xticks([seconds for seconds, _ in TIMES], [text for _, text in TIMES])
    axes.set_ylim(0.70, 0.97)
    axes.set_yticks([share / 100 for share in range(70, 100, 5)], [f"{share} %" for share in range(70, 100, 5)])
    axes.minorticks_off()
    counting = [lesson for lesson in lessons if lesson.course == COUNTING]
    axes.plot([row.seconds for row in counting], [row.accuracy for row in counting], color=OURS, linewidth=1.2)
    marks = [Mark(row.seconds, row.accuracy, _name_lesson(row, counting), OURS, "o") for row in lessons]
    marks += [
        Mark(learner.training_s, learner.accuracy, f"2019, {learner.name}: {learner.pictures} test pictures", SMALL, "s")
        for learner in published.learners
        if learner.accuracy is not None
    ]
    unknown = [learner for learner in published.learners if learner.accuracy is None]
    for number, learner in enumerate(sorted(unknown, key=lambda learner: learner.training_s)):
        said = "two digits only" if learner.digits == 2 else "accuracy not said"
        axes.axvline(learner.training_s, ymax=0.04, color=SMALL, linewidth=1.2)
        side = "left" if number else "right"  # the first two are close to each other
        axes.text(learner.training_s, 0.714, f"2019, {learner.name}: {said}", color=SMALL, rotation=90, ha=side)
    _draw(figure, axes, marks)
    return _close_figure(figure)


def _mark_of(reader: Reader) -> Mark | None:
    """Return the mark of a program whose time is known."""
    if reader.cycles_a_picture is None:
        return None
    colour, symbol = (SMALL, "s") if reader.bits == 8 else (LARGE, "^")
    name = f"{reader.name}, {reader.machine.split(',')[0]}"
    return Mark(reader.cycles_a_picture, 1 - reader.accuracy, name, colour, symbol)


def _name_lesson(lesson: Lesson, counting: Sequence[Lesson]) -> str:
    """Return what stands beside a lesson: of counting and correcting only its ends have names."""
    if lesson.course == SEED_NET:
        return f"{SEED_NET}: {lesson.pictures:,} test pictures"
    if lesson == counting[0]:
        return f"{lesson.stage}: 10,000 test pictures"
    return f"and correct, {lesson.stage.replace('pass ', '')} passes" if lesson == counting[-1] else ""


def _draw(figure: Figure, axes: Axes, marks: Sequence[Mark]) -> None:
    """Draw the marks, and each one's name in the first of PLACES where it touches nothing that is there."""
    for mark in marks:
        axes.plot([mark.x], [mark.y], color=mark.colour, marker=mark.symbol, markersize=5, linestyle="")
    renderer = _fix_layout(figure)
    taken = [artist.get_window_extent(renderer) for artist in (*axes.lines, *axes.texts, *filter(None, [axes.get_legend()]))]
    for mark in filter(lambda mark: mark.name, marks):
        names = [_write(axes, mark, place) for place in PLACES]
        boxes = [name.get_window_extent(renderer) for name in names]
        chosen = next((i for i, box in enumerate(boxes) if _is_free(axes, box, taken)), 0)
        taken.append(boxes[chosen])
        for name in names[:chosen] + names[chosen + 1 :]:
            name.remove()


def _write(axes: Axes, mark: Mark, place: Place) -> Annotation:
    """Write the mark's name in a place."""
    offset, side = place
    return axes.annotate(mark.name, (mark.x, mark.y), offset, textcoords="offset points", color=mark.colour, ha=side)


def _is_free(axes: Axes, box: Bbox, taken: Sequence[Bbox]) -> bool:
    """Tell whether a name may stand in a box: inside the axes and apart from all that is there."""
    inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 and axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1
    return bool(inside and not any(box.overlaps(other) for other in taken))


def _fix_layout(figure: Figure) -> RendererBase:
    """Give everything its place for good, and return what measures it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    renderer: RendererBase = canvas.get_renderer()
    return renderer


def _open_figure(xlabel: str) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes; raise ZxmlError without matplotlib."""
    try:
        from matplotlib import rcParams
        from matplotlib.figure import Figure
    except ImportError:
        raise ZxmlError("plots need matplotlib, which is not installed; install it with `pip install 'zxml[report]'`") from None
    rcParams.update(STYLE)
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.add_subplot(xlabel=xlabel, ylabel="test pictures read right")
    return figure, axes


def _close_figure(figure: Figure) -> bytes:
    """Return the figure as SVG, without a date."""
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()
