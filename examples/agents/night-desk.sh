#!/bin/sh
# Stands in for a model: it files what is in the inbox, and does what an agent may do about itself.
set -eu
prompt=$(cat)
inbox=${DESK_INBOX:-inbox}
rota step "was told: $(printf '%s\n' "$prompt" | tail -n 1)"
mkdir -p "$inbox/filed"
n=0
for letter in "$inbox"/*.txt; do
	[ -e "$letter" ] || continue
	mv "$letter" "$inbox/filed/"
	n=$((n + 1))
done
rota state set letters "$n" >/dev/null
rota memory add "$n letters came in on $(date +%A)" --tag inbox >/dev/null
[ "$n" -lt 3 ] || rota next-check 15m >/dev/null # a busy night: look again soon
echo "$n letters filed; the state of things is in $(basename "$ROTA_CONTEXT")"
