#!/bin/sh
# Writes without end.

while IFS= read -r line; do
    case $line in
    *'"type":"hello"'*) echo '{"type":"ready"}' ;;
    *'"type":"turn"'*)
        legal=${line#*'"legal":[{"id":'}
        while :; do echo "{\"type\":\"action\",\"action\":${legal%%,*}}"; done
        ;;
    *'"type":"bye"'*) exit 0 ;;
    esac
done
