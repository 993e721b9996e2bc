#!/bin/sh
# An outside agent in POSIX shell: it takes the first legal action.
#
#   cardlab check-agent examples/first_legal.sh --game uno
#   cardlab match crazy_eights "cmd:examples/first_legal.sh" random --games 20
#
# One JSON line in, one JSON line out; docs/arena.md describes the messages. The first id after
# "legal":[ is all that this agent needs, so it gets by without a JSON parser.

while IFS= read -r line; do
    case $line in
    *'"type":"hello"'*)
        echo '{"type":"ready"}'
        ;;
    *'"type":"turn"'*)
        legal=${line#*'"legal":[{"id":'}
        echo "{\"type\":\"action\",\"action\":${legal%%,*}}"
        ;;
    *'"type":"bye"'*)
        exit 0
        ;;
    esac
done
