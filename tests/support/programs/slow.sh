#!/bin/sh
# Answers, but far too late.

while IFS= read -r line; do
    case $line in
    *'"type":"hello"'*) echo '{"type":"ready"}' ;;
    *'"type":"turn"'*)
        sleep 30
        legal=${line#*'"legal":[{"id":'}
        echo "{\"type\":\"action\",\"action\":${legal%%,*}}"
        ;;
    *'"type":"bye"'*) exit 0 ;;
    esac
done
