#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Who may not measure is told so; and what doctor says is what hist then finds.

as_user() {
	su -s /bin/sh nobody -c "$1"
}

# What doctor promises, and what hist finds.
both() {
	kdefer doctor --json >"$OUT/$1-doctor.json" 2>"$OUT/$1-doctor.err"
	echo $? >"$OUT/$1-doctor.status"
	kdefer hist --split -d 0.1 --json >"$OUT/$1.json" 2>"$OUT/$1.err"
	echo $? >"$OUT/$1.status"
}

run() {
	echo 'root:x:0:0::/root:/bin/sh' >/etc/passwd
	echo 'nobody:x:1000:1000::/tmp:/bin/sh' >>/etc/passwd
	chmod 755 / /bin /tests
	as_user 'kdefer hist -d 0.1' >"$OUT/text.out" 2>"$OUT/text.err"
	echo $? >"$OUT/text.status"
	as_user 'kdefer hist --split -d 0.1 --json' >"$OUT/user.json" 2>"$OUT/user.err"
	echo $? >"$OUT/user.status"
	as_user 'kdefer doctor --json' >"$OUT/user-doctor.json" 2>"$OUT/user-doctor.err"
	both as_root
	sysctl -w kernel.ftrace_enabled=0
	both untraced
	sysctl -w kernel.ftrace_enabled=1
}
