"""The command palette: what is possible on the present screen, the tasks, the measures, and the layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.worker import Worker

from bright_inspect.domain.visible import visible
from bright_inspect.tui.keymap import KEYS, display_keys

if TYPE_CHECKING:
    from bright_inspect.tui.app import BrightInspect


class Possibility(NamedTuple):
    """Something the palette can do: ``name`` is shown, ``run`` does it."""

    name: str
    run: Callable[[], object]


class Palette(CommandPalette):
    """Textual's palette, which fast keys would end the program in."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave, unless an earlier key did."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def run_worker(self, *arguments: Any, **options: Any) -> Worker[Any]:
        """A search that a fast Esc leaves without its list is over, and no reason to end the program."""
        return super().run_worker(*arguments, **{**options, "exit_on_error": False})

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No paging: Textual 8.2.8 raises KeyError when the list is paged before it is laid out."""
        if action == "command_list" and parameters in (("page_up",), ("page_down",)):
            return False
        return super().check_action(action, parameters)


class BrightCommands(Provider):
    """Keys of the present screen, then tasks, measures and layers of judgments."""

    def _possibilities(self) -> Iterator[Possibility]:
        app = cast("BrightInspect", self.app)
        scopes = {"everywhere", type(self.screen).__name__.removesuffix("Screen").lower()}
        for key in KEYS:
            if key.scope in scopes and key.action and key.id != "palette":
                action = key.action if key.action.startswith("app.") else f"screen.{key.action}"
                shown = display_keys(app.keys_of(key)).split(" ")[0]
                name = f"{key.label}: {key.help} ({shown})"
                yield Possibility(name, partial(app.run_action, action))
        if not app.has_desk:
            return
        tasks = app.desk.session.tasks
        if len(tasks) > 1:
            for task in tasks:
                yield Possibility(f"queries of {visible(task[1])}", partial(app.open_task, (task,)))
        for run in app.desk.session.runs:
            name = f"which variant {visible(run.name.in_full)} was made with"
            yield Possibility(name, partial(app.ask_variant, run.run_id))
        from bright_inspect.domain.measures import parse_measure
        from bright_inspect.tui.screens.measure_choice import OFFERED

        for name in OFFERED:
            yield Possibility(f"score by {name}", partial(app.use_measure, parse_measure(name)))
        layers = app.desk.layers
        for layer in layers if len(layers) > 1 else ():
            yield Possibility(f"let the judgments of {visible(layer)} count", partial(app.use_layer, layer))

    async def discover(self) -> Hits:
        for possibility in self._possibilities():
            yield DiscoveryHit(Content(possibility.name), possibility.run, possibility.name)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for possibility in self._possibilities():
            score = matcher.match(possibility.name)
            if score > 0:
                yield Hit(score, Content(possibility.name), possibility.run, possibility.name)
