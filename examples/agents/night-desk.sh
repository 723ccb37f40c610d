#!/bin/sh
# Takes the place of a model: moves the letters of the inbox, and reports, stores and schedules like an agent.
set -eu
prompt=$(cat)
inbox=${DESK_INBOX:-inbox}
rota step "message: $(printf '%s\n' "$prompt" | tail -n 1)"
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
echo "$n letters filed; the context of this run was $(basename "$ROTA_CONTEXT")"
