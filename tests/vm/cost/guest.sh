#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In a guest whose clock counts instructions: the callback load alone, and watched in each way.
# shellcheck disable=SC2016 # the dollars are the kernel's
#
# Writes one line "NAME ROUNDS NS NS NS ..." for each way to /out/cost, and what they counted.
ROUNDS=15000
REPEATS=5
T=/sys/kernel/tracing
mkdir -p /tmp/load && cd /tmp/load || exit 1

measure() { # NAME
	line="$1 $ROUNDS"
	i=0
	while [ $i -lt $REPEATS ]; do
		line="$line $(cbload $ROUNDS | sed -n 's/.*elapsed_ns \([0-9]*\).*/\1/p')"
		i=$((i + 1))
	done
	echo "$line" >>/out/cost
}

# Runs a watcher in the background while the load is measured. $1: name, rest: the watcher.
watched() {
	name=$1
	shift
	"$@" >"/out/$name.out" 2>"/out/$name.err" &
	pid=$!
	sleep 15 # it loads, attaches and settles meanwhile; while all sleep the clock runs ahead
	measure "$name"
	kill -TERM $pid
	wait $pid
	sleep 2
}

triggers() {
	echo 'p:enq call_rcu head=%di func=%si' >>$T/kprobe_events
	echo 'r:deq rcu_cblist_dequeue head=$retval' >>$T/kprobe_events
	echo 'lat u64 lat; u64 func' >$T/synthetic_events
	echo 'hist:keys=head:ts0=common_timestamp.usecs,f=func:size=65536' >$T/events/kprobes/enq/trigger
	echo 'hist:keys=head:lat=common_timestamp.usecs-$ts0,fn=$f:onmatch(kprobes.enq).trace(lat,$lat,$fn):size=65536' \
		>$T/events/kprobes/deq/trigger
	echo 'hist:keys=func.sym,lat.log2:sort=func,lat' >$T/events/synthetic/lat/trigger
}

# The first runs fill caches that the later ones find full.
for _ in 1 2 3 4; do cbload $ROUNDS >/dev/null; done

# Before each way, and once more at the end: what drifts meanwhile is not the watcher's.
for way in "$@"; do
	measure unwatched
	case $way in
	empty) watched empty empty ;;
	kdefer) watched kdefer kdefer hist -s call_rcu -i 1000s --json ;;
	bpftrace) watched bpftrace env BPFTRACE_MAP_KEYS_MAX=65536 bpftrace /callbacks.bt ;;
	triggers)
		triggers
		measure triggers
		cat $T/kprobe_profile >/out/triggers.profile
		;;
	esac
done
