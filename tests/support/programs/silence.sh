#!/bin/sh
# Says that it is ready and never answers again.

while IFS= read -r line; do
    case $line in
    *'"type":"hello"'*) echo '{"type":"ready"}' ;;
    *'"type":"turn"'*)
        :
        ;;
    *'"type":"bye"'*) exit 0 ;;
    esac
done
