#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In a guest whose clock counts instructions: what kdefer takes as the machine, or what it watches, grows.
#
#   growth.sh user | pending N ... | functions | cgroups N ...
#
# Writes documents of kdefer to /out, and lines of "WHAT NUMBER ..." to /out/growth.
G=/sys/fs/cgroup
OUT=/out
mkdir -p $OUT /tmp/load && cd /tmp/load || exit 1
uname -r >$OUT/release

note() {
	echo "$*" >>$OUT/growth
}

uptime_s() {
	cut -d' ' -f1 /proc/uptime
}

# Recording has begun when the first interval is shown. $1: name, rest: kdefer and its arguments.
start() {
	name=$1
	shift
	note "$name start $(uptime_s)"
	"$@" >"$OUT/$name" 2>"$OUT/$name.err" &
	pid=$!
	i=0
	while [ $i -lt 1200 ] && ! [ -s "$OUT/$name" ]; do
		sleep 0.05
		i=$((i + 1))
	done
}

finish() { # NAME
	note "$1 links $(grep -l '^link_type' /proc/"$pid"/fdinfo/* 2>/dev/null | wc -l)"
	note "$1 end $(uptime_s)"
	kill -TERM "$pid"
	wait "$pid"
	note "$1 gone $(uptime_s)"
}

# Functions that were hooked, of a line of JSON.
hooked() {
	sed -n 1p "$1" | sed 's/"backend":"fentry","hooks":\[\([^]]*\)\]/\n@\1\n/g' |
		sed -n 's/^@//p' | tr -d '"' | tr ',' '\n' | sort -u
}

# As many programs that do nothing as kdefer had, at the same functions: at their ends too, where it had
# more than one at a function.
empties() { # NAME
	n=$(sed -n "s/^$1 links //p" $OUT/growth)
	for kind in fentry fexit; do
		hooked "$OUT/$1" | sed "s/^/$kind:/"
	done | head -n "$n" >/tmp/places
	: >/tmp/empty # not in the background, or what is there already is taken for the answer
	# shellcheck disable=SC2046 # words
	empty $(cat /tmp/places) >/tmp/empty &
	pid=$!
	i=0
	while [ $i -lt 1200 ] && kill -0 "$pid" && ! [ -s /tmp/empty ]; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -TERM "$pid"
	wait "$pid"
	note "$1 empty $(tr '\n' ' ' </tmp/empty)"
}

# --- the user side ---

user() {
	while :; do
		cbload 30 >/dev/null
		sleep 0.2
	done &
	load=$!
	for sources in call_rcu call_rcu,rcu_gp,memalloc,rstat; do
		start user-$sources kdefer hist -s $sources -i 1 --ndjson
		sleep 6
		finish user-$sources
		empties user-$sources
	done
	kill $load
	start user-lists kdefer lists -i 1 --ndjson
	sleep 6
	finish user-lists
}

# --- what programs take ---

runs() { # NAME: of our programs since they are there
	progs --runs | awk -v name="$1" '$1 == "prog" && $4 { print name, "prog", $3, $4, $5 }' >>$OUT/growth
}

pending() { # N ...
	sysctl -qw kernel.bpf_stats_enabled=1
	for n in "$@"; do
		start pending-"$n" kdefer hist -s call_rcu -i 1 --ndjson
		kdefer bench callbacks --flood "$n" --way creds --hold 15s --rest 1s -d 1s --json \
			>$OUT/flood-"$n" 2>$OUT/flood-"$n".err &
		flood=$!
		sleep 10
		kdefer lists -s call_rcu -i 0.5 -n 3 --ndjson >$OUT/lists-pending-"$n"
		wait $flood
		runs pending-"$n"
		finish pending-"$n"
	done
	sysctl -qw kernel.bpf_stats_enabled=0
}

# One function, three, and all that a mixed load has.
functions() {
	sysctl -qw kernel.bpf_stats_enabled=1
	for way in creds files mixed; do
		start functions-$way kdefer hist -s call_rcu -i 1 --ndjson
		case $way in
		creds | files) kdefer bench callbacks --rate 0 --way $way -d 3s --json >/dev/null ;;
		mixed) mixed ;;
		esac
		runs functions-$way
		finish functions-$way
	done
	sysctl -qw kernel.bpf_stats_enabled=0
}

mixed() {
	for _ in 1 2 3 4 5 6 7 8; do
		unshare -mnpiuf true
		mkdir $G/mixed && rmdir $G/mixed
		mount -t tmpfs tmpfs /mnt && umount /mnt
		cbload 300 >/dev/null
		ip link set lo down
		ip link set lo up
		ip addr add 10.9.8.7/24 dev lo
		ip route add 10.7.0.0/16 dev lo
		ip route flush table main
		ip addr flush dev lo
		rsload churn $G 1 >/dev/null
	done 2>/dev/null
}

# A flush of each, by who is not in it.
cgroups() { # N ...
	echo +memory >$G/cgroup.subtree_control
	sysctl -qw kernel.bpf_stats_enabled=1
	for n in "$@"; do
		mkdir $G/growth
		rsload make $G/growth "$n" >/dev/null
		start cgroups-"$n" kdefer hist -s rstat -i 1 --ndjson
		for file in "$G"/growth/*/cpu.stat; do
			read -r _ <"$file"
		done
		sleep 2
		runs cgroups-"$n"
		finish cgroups-"$n"
		kdefer lists -s rstat -i 1 -n 3 --ndjson >$OUT/lists-cgroups-"$n"
		rsload unmake $G/growth "$n" >/dev/null
		rmdir $G/growth
	done
}

what=$1
shift
$what "$@"
