#!/bin/sh
# Writes without end.

while IFS= read -r line; do
    case $line in
    *'"type":"hello"'*) echo '{"type":"ready"}' ;;
    *'"type":"turn"'*)
        legal=${line#*'"legal":[{"id":'}
        action="{\"type\":\"action\",\"action\":${legal%%,*}}"
        printf '%s\n%s\n' "$action" "$action"  # in one piece
        while :; do echo "$action"; done
        ;;
    *'"type":"bye"'*) exit 0 ;;
    esac
done
