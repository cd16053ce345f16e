#!/bin/sh
# Prints the absolute path of a model directory where it is complete, else
# nothing: then the user's own is used, or the code model alone.
set -eu
if [ -f "$1/model.json" ]; then (cd "$1" && pwd); fi
