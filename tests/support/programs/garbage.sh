#!/bin/sh
# Answers with something that is no JSON.

while IFS= read -r line; do
    case $line in
    *'"type":"hello"'*) echo '{"type":"ready"}' ;;
    *'"type":"turn"'*)
        echo 'I would like to play the seven of hearts'
        ;;
    *'"type":"bye"'*) exit 0 ;;
    esac
done
