"""The commands of the service, which join ``askance``."""

from askance_live.cli import (
    backup,
    classes,
    demo,
    doctor,
    exporting,
    importing,
    init,
    people,
    quarantine,
    rebuild,
    restore,
    serve,
    token,
)

COMMANDS = tuple(
    module.command
    for module in (
        demo,
        init,
        serve,
        people,
        classes,
        token,
        importing,
        exporting,
        quarantine,
        backup,
        restore,
        rebuild,
        doctor,
    )
)
