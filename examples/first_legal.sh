#!/bin/sh
# An outside agent in POSIX shell: it takes the first legal action.
#
#   cardlab check-agent examples/first_legal.sh --game uno
#   cardlab match crazy_eights "cmd:examples/first_legal.sh" random --games 20
#
# One JSON line in, one JSON line out; docs/reference/protocol.md describes the messages. This agent
# needs only the first id after "legal":[, so it works without a JSON parser.

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
