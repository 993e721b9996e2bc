#!/bin/sh
# Run a stranger's program as an agent that sees only its own folder, read-only:
#
#     cardlab check-agent "examples/sandboxed.sh /srv/agents/theirs python3 agent.py" --game uno
#
# No network, no other process, no file of yours, an empty environment; /tmp is in memory, 64 MB.
# It needs bubblewrap (Debian's package of that name). cardlab watches memory and time.
set -eu
folder=$1
shift
exec bwrap --unshare-all --new-session --die-with-parent --cap-drop ALL --clearenv \
    --setenv PATH /usr/bin:/bin --setenv HOME /tmp \
    --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
    --proc /proc --dev /dev --size 67108864 --tmpfs /tmp \
    --ro-bind "$folder" /agent --chdir /agent \
    -- "$@"
