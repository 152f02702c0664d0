#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In a guest whose clock counts instructions: loads alone, and watched in each way.
# shellcheck disable=SC2016 # the dollars are the kernel's
#
#   guest.sh LOAD:WAY ...
#
# Writes to /out/cost for each "LOAD WAY", and for the load alone before and after it, the rounds
# and nanoseconds of each repeat; and beside it what the watchers counted.
REPEATS=4
T=/sys/kernel/tracing
G=/sys/fs/cgroup
mkdir -p /tmp/load && cd /tmp/load || exit 1
mkdir -p $G/cost/a/b && echo $$ >$G/cost/a/b/cgroup.procs
uname -r >/out/release

load() { # LOAD REPEATS
	case $1 in
	callbacks) costload callbacks 15000 "$2" ;;
	flush) costload flush $G/cost/cpu.stat 20000 "$2" ;;
	refill) costload refill 1000 "$2" ;;
	esac
}

measure() { # LOAD WAY
	echo "$1 $2 $(load "$1" $REPEATS | tr '\n' ' ')" >>/out/cost
}

# What a run of its programs costs is measured while kdefer holds this.
calibrates() {
	for fd in /proc/"$1"/fd/*; do
		[ "$(readlink "$fd")" = anon_inode:bpf-stats ] && return 0
	done
	return 1
}

# Runs a watcher in the background while the load is measured. $1: load, $2: way, rest: the watcher.
watched() {
	load=$1 way=$2
	shift 2
	"$@" >"/out/$load.$way.out" 2>"/out/$load.$way.err" &
	pid=$!
	i=0 # it loads, attaches and settles meanwhile; while all sleep the clock runs ahead
	while [ $i -lt 150 ] && ! calibrates $pid; do
		sleep 0.1
		i=$((i + 1))
	done
	load "$load" 1 >/dev/null
	sleep 2
	measure "$load" "$way"
	kill -TERM $pid
	wait $pid
	sleep 2
}

# How many callbacks, or refills, the kernel has in a round.
count() { # LOAD
	for function in call_rcu call_rcu_hurry bpf_mem_refill; do
		echo "p:n_$function $function" >>$T/kprobe_events # where there is such
	done
	echo 1 >$T/events/kprobes/enable
	measure "$1" counted
	cat $T/kprobe_profile >"/out/$1.profile"
	echo 0 >$T/events/kprobes/enable
	echo >$T/kprobe_events
} 2>/dev/null

triggers() {
	echo 'p:enq call_rcu head=%di func=%si' >>$T/kprobe_events
	echo 'r:deq rcu_cblist_dequeue head=$retval' >>$T/kprobe_events
	echo 'lat u64 lat; u64 func' >$T/synthetic_events
	echo 'hist:keys=head:ts0=common_timestamp.usecs,f=func:size=65536' >$T/events/kprobes/enq/trigger
	echo 'hist:keys=head:lat=common_timestamp.usecs-$ts0,fn=$f:onmatch(kprobes.enq).trace(lat,$lat,$fn):size=65536' \
		>$T/events/kprobes/deq/trigger
	echo 'hist:keys=func.sym,lat.log2:sort=func,lat' >$T/events/synthetic/lat/trigger
}

# At both ends of what is measured.
empty_programs() { # LOAD
	case $1 in
	callbacks) watched "$1" empty empty ;;
	flush) watched "$1" empty empty tp_btf:cgroup_rstat_locked tp_btf:cgroup_rstat_unlock ;;
	refill) watched "$1" empty empty fentry:bpf_mem_refill fexit:bpf_mem_refill ;;
	esac
}

bpftrace_script() { # LOAD
	watched "$1" bpftrace env BPFTRACE_MAP_KEYS_MAX=65536 bpftrace "/$1.bt"
}

warm=
for what in "$@"; do
	load=${what%%:*} way=${what#*:}
	# The first runs fill caches that the later ones find full.
	case " $warm " in
	*" $load "*) ;;
	*)
		load "$load" 5 >/dev/null
		warm="$warm $load"
		count "$load"
		;;
	esac
	# Before each way, and once more at the end: what drifts meanwhile is not the watcher's.
	measure "$load" unwatched
	case $way in
	empty) empty_programs "$load" ;;
	kdefer) case $load in
		callbacks) watched "$load" "$way" kdefer hist -s call_rcu --budget 100 -i 1000s --json ;;
		flush) watched "$load" "$way" kdefer hist -s rstat --budget 100 -i 1000s --json ;;
		refill) watched "$load" "$way" kdefer hist -s memalloc --budget 100 -i 1000s --json ;;
		esac ;;
	sampled) watched "$load" sampled kdefer hist -s call_rcu --sample 1/8 --budget 100 -i 1000s --json ;;
	left-out) watched "$load" "$way" kdefer hist -s call_rcu --sample 1/1024 --budget 100 -i 1000s --json ;;
	everything) watched "$load" everything kdefer hist --budget 100 -i 1000s --json ;;
	why) watched "$load" why kdefer why --json ;;
	why-*) watched "$load" "$way" kdefer why -s "${way#why-}" --json ;; # one of its sources
	hist-why) # reports beside measures, as record and top take them
		kdefer why --json >"/out/$load.beside.out" 2>"/out/$load.beside.err" &
		beside=$!
		watched "$load" "$way" kdefer hist -s call_rcu --budget 100 -i 1000s --json
		kill -TERM $beside
		wait $beside
		sleep 2
		;;
	lists) watched "$load" lists kdefer lists -i 1 --ndjson ;;
	bpftrace) bpftrace_script "$load" ;;
	triggers)
		triggers
		measure "$load" triggers
		;;
	esac
done
for load in $warm; do
	measure "$load" unwatched
done
