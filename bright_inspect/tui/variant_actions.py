"""What the program does about variants, whichever screen asks for it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError

if TYPE_CHECKING:
    from bright_inspect.domain.rankings import QueryKey
    from bright_inspect.tui.app import BrightInspect
    from bright_inspect.tui.screens.inspect import InspectScreen


class VariantActions:
    """Actions of the program; its other half is ``BrightInspect``."""

    @property
    def _program(self) -> BrightInspect:
        return cast("BrightInspect", self)

    def action_variants(self) -> None:
        """Of a query: look at it by a rewrite. Of that, and elsewhere: what the variants of the tasks at hand do."""
        from bright_inspect.tui.screens.inspect import InspectScreen
        from bright_inspect.tui.screens.lens import LensScreen
        from bright_inspect.tui.screens.variants import VariantsScreen

        program = self._program
        screen = program.desk_screen()
        if screen is None or not screen.ready or isinstance(screen, VariantsScreen):
            return
        if isinstance(screen, InspectScreen):
            self._open_lens(screen)
        elif isinstance(screen, LensScreen):
            if isinstance(program.screen_stack[-2], VariantsScreen):
                while screen.leave_level():
                    pass
                program.pop_screen()
            else:
                program.push_screen(VariantsScreen(screen.tasks, screen.key))
        else:
            program.push_screen(VariantsScreen(screen.tasks))

    def _open_lens(self, inspect: InspectScreen) -> None:
        from bright_inspect.tui.screens.lens import LensScreen

        keys = [row.key for row in inspect.rows]

        def follow(key: QueryKey) -> None:
            if key != inspect.row.key:
                inspect.go_to(keys.index(key))

        self._program.push_screen(LensScreen(keys, keys.index(inspect.row.key), tell_left=follow))

    def action_trace(self) -> None:
        """Read what there is about the query at hand by its outline."""
        from bright_inspect.presentation.traces import traces_of
        from bright_inspect.tui.screens.inspect import InspectScreen
        from bright_inspect.tui.screens.lens import LensScreen
        from bright_inspect.tui.screens.trace import TraceScreen

        program = self._program
        screen = program.desk_screen()
        view = screen.view if isinstance(screen, InspectScreen | LensScreen) and screen.ready else None
        if view is None:
            return
        traces = traces_of(view)
        if not traces:
            program.notify("There is no text about this query at hand.", markup=False)
            return
        names = [name for name, _ in traces]
        variant = screen.variant if isinstance(screen, LensScreen) else None
        program.push_screen(TraceScreen(view.key, traces, names.index(variant) if variant in names else 0))

    def ask_variant(self, run_id: int) -> None:
        """Ask which variant a run was made with."""
        program = self._program
        if program.desk_screen() is None:
            return

        def ask(names: list[str]) -> None:
            if program.desk_screen() is None:  # another dialog came first
                return
            from bright_inspect.tui.screens.variant_choice import UNKNOWN, variant_choice

            run = program.desk.session.runs[run_id]

            def chosen(variant: str | None) -> None:
                if variant is not None:
                    self.name_variant(run_id, None if variant == UNKNOWN else variant)

            program.push_screen(variant_choice(run, names), chosen)

        program.runner.start("variant names", partial(program.desk.variants.names, run_id), ask)

    def name_variant(self, run_id: int, variant: str | None) -> None:
        """Say which variant a run was made with; every screen follows."""
        program = self._program
        try:
            program.desk.name_variant(run_id, variant)
        except UsageError as error:
            program.notify(visible(str(error)), severity="error", markup=False)
            return
        if program.runner.busy("score"):  # its result would have the old name
            program.score_anew("scoring …")
        program.tell_desk_changed()
        name = program.desk.session.runs[run_id].name
        if variant is not None:
            text = f"{name.in_full} until you leave; to keep it, open {name.in_full}=PATH or name the file so"
            program.notify(visible(text), markup=False)
