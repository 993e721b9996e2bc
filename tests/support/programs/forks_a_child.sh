#!/bin/sh
# Hides a child in a session of its own, which keeps the output open, and ends.

while IFS= read -r line; do
    case $line in
    *'"type":"hello"'*) echo '{"type":"ready"}' ;;
    *'"type":"turn"'*)
        setsid sh -c 'while :; do sleep 1; done' cardlab-hidden-child &
        exit 0
        ;;
    *'"type":"bye"'*) exit 0 ;;
    esac
done
