#!/bin/sh
# Ends before it has said anything.

echo "no such model" >&2
exit 3
