#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Who may not measure is told so; and what doctor says is what hist then finds.

as_user() {
	su -s /bin/sh nobody -c "$1"
}

run() {
	echo 'root:x:0:0::/root:/bin/sh' >/etc/passwd
	echo 'nobody:x:1000:1000::/tmp:/bin/sh' >>/etc/passwd
	chmod 755 / /bin /tests
	as_user 'kdefer hist -d 0.1' >"$OUT/text.out" 2>"$OUT/text.err"
	echo $? >"$OUT/text.status"
	as_user 'kdefer hist -d 0.1 --json' >"$OUT/user.json" 2>"$OUT/user.err"
	echo $? >"$OUT/user.status"
	as_user 'kdefer doctor --json' >"$OUT/user-doctor.json" 2>"$OUT/user-doctor.err"
	kdefer doctor --json >"$OUT/doctor.json" 2>"$OUT/doctor.err"
	echo $? >"$OUT/doctor.status"
	kdefer hist -d 0.1 --json >"$OUT/hist.json" 2>"$OUT/hist.err"
	echo $? >"$OUT/hist.status"
}
