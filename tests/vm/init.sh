#!/bin/sh
# The first program of every guest: mounts what a normal system has, runs the command
# that the host left in /.guest, reports over the second serial port, powers off.

PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
PORT=/dev/ttyS1
REPORT=/.guest/report

mounts() {
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs devtmpfs /dev
	mkdir -p /dev/pts /dev/shm
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t tmpfs tmpfs /tmp
	mount -t tracefs tracefs /sys/kernel/tracing
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t securityfs securityfs /sys/kernel/security
	mount -t bpf bpf /sys/fs/bpf
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	ln -s /proc/self/fd /dev/fd
	ip link set lo up
}

# Nothing of this script reaches the command: clean environment, own session.
clean() {
	cd /tmp && exec setsid env -i PATH="$PATH" HOME=/root TERM="${TERM:-linux}" "$@" 3>&-
}

# The host says when time is up: the guest's own clock is no judge of that. The word
# comes in over the port of the report. $1: process group of the command
stop_when_told() {
	read -r _ <$PORT || return
	touch $REPORT/timeout
	kill -TERM "-$1"
	sleep 2
	kill -KILL "-$1"
}

run_command() {
	mkdir -p $REPORT
	clean sh /.guest/command </dev/null >$REPORT/stdout 2>$REPORT/stderr &
	command=$!
	stop_when_told $command 2>/dev/null &
	watcher=$!
	wait $command
	echo $? >$REPORT/status
	kill $watcher
	dmesg >$REPORT/dmesg
}

# Length and checksum go first, so that the host knows a short or damaged report as such.
send_report() {
	# Packed, since the port carries a few hundred kilobytes a second at best.
	tar -c -C / .guest/report out | gzip -1 >/.guest/packed
	set -- "$(wc -c </.guest/packed)" "$(sha256sum /.guest/packed)"
	echo "REPORT $1 ${2%% *}" >&3
	cat /.guest/packed >&3
	exec 3>&- # the last close waits until all is sent
}

mounts
if [ -e /.guest/command ]; then
	exec 3<>$PORT
	stty raw -echo <&3
	run_command
	send_report
else
	TERM=$(cat /.guest/term)
	(clean cttyhack sh)
fi
poweroff -f
