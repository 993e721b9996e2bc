#!/bin/sh
# Answers with an action that is not among the legal ones.

while IFS= read -r line; do
    case $line in
    *'"type":"hello"'*) echo '{"type":"ready"}' ;;
    *'"type":"turn"'*)
        echo '{"type":"action","action":9999}'
        ;;
    *'"type":"bye"'*) exit 0 ;;
    esac
done
