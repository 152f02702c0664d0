#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kdefer top live on a terminal, while callbacks are handed over and statistics flushed: every key of
# the help, sizes, a recording, the end. Then what it leaves behind.

CGROUPS=/sys/fs/cgroup

busy() {
	while [ -e /tmp/busy ]; do
		echo >/tmp/busy.file
		rm /tmp/busy.file
		cat $CGROUPS/top/cpu.stat >/dev/null
	done
}

# Keys that move are pressed together; the rest one by one, each with what has to be seen.
script() {
	cat <<'END'
see SOURCE
see tasks_trace
sh progs | grep -c . >/out/top/progs_live
keys ?
see these keys, and what columns mean
keys ?
see SOURCE
keys h
see these keys
keys \e
see SOURCE
keys \eOP
see these keys
keys \eOP
see SOURCE
keys kj\eOA\eOB\e[5~\e[6~\eOF\eOH
see tasks_trace
keys \r
see latency by func
see __d_free
keys \e
see SOURCE
keys \t
see latency by func
keys \e[Z
see SOURCE
keys 2
see by cgroup
keys 1
see latency by func
keys \eOC
see lists, over time
keys l
see latency by func
keys \eOC
see lists, over time
keys \eOD
see latency by func
keys >
see sorted by
keys \e[17~
see sorted by
keys .
see sorted by
keys <
see sorted by
keys ,
see sorted by
keys I
see __d_free
keys I
see __d_free
keys /
pause 300
keys d_free\r
see __d_free
keys n
see __d_free
keys \\
pause 300
keys d_free\r
see __d_free
keys \e
see __d_free
keys \eOS
pause 300
keys \e
see __d_free
keys H
see how long
keys H
see over time
keys c
see waiting on each CPU
keys c
see over time
keys e
see events, the newest first
keys 0
see SOURCE
keys a
see flush
keys a
see SOURCE
keys w
see since baseline
keys w
see SOURCE
keys z
see new baseline
keys p
see paused
keys p
see SOURCE
keys \x20
see paused
keys \x20
see SOURCE
keys s
see SOURCE
keys d
see time between looks
keys 400ms\r
see looks every 400 ms
keys +
see looks every 800 ms
keys =
see looks every 1.6 s
keys -
see looks every 800 ms
keys r
pause 2500
keys r
pause 500
see SOURCE
keys \x0c
see SOURCE
size 40x10
see tasks
size 200x50
see over time
size 1x1
pause 500
size 80x24
see SOURCE
keys q
end
END
}

run() {
	mkdir -p $CGROUPS/top "$OUT"
	echo "+cpu +memory" >$CGROUPS/cgroup.subtree_control
	touch /tmp/busy
	busy &
	script | ptyrun "$OUT/raw" kdefer top -s call_rcu,rstat --budget 0 -i 300ms >"$OUT/seen"
	rm /tmp/busy
	wait
	until_gone top
	ls >"$OUT/files"
	for file in *.kdefer; do
		kdefer hist --input "$file" --json >"$OUT/recorded.json" 2>"$OUT/recorded.err"
		echo $? >"$OUT/recorded.status"
	done
	script >"$OUT/script"
}
