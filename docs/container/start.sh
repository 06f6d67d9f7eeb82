#!/bin/sh
# Serve a stream; the first time, write its settings, make its store, and invite an admin, whose link is printed.
set -eu
cd "${ASKANCE_HOME:-/var/lib/askance}"
if [ ! -e askance.toml ]; then
    askance init --classes "${ASKANCE_CLASSES:?name the labels, such as ASKANCE_CLASSES=ham,spam}" \
        --store "${ASKANCE_STORE:-askance.db}"
fi
if [ -z "$(askance people list)" ]; then
    askance people invite "${ASKANCE_ADMIN:-admin}" --role admin --address "${ASKANCE_URL:-http://localhost:8017}"
fi
exec askance serve --host "${ASKANCE_HOST:-0.0.0.0}" "$@"
