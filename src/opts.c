// SPDX-License-Identifier: GPL-2.0-only
/* opts.c - reads a command line by its option tables, and says exactly what is wrong with it. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "format.h"
#include "log.h"
#include "opts.h"

struct parser {
	const struct opts_command *cmd;
	int argc, at;
	char **argv;
	void *into;
};

static const struct opt help_option = {
	.name = "help",
	.letter = 'h',
	.type = OPT_FLAG,
	.help = "show this help",
};

/* The i-th option of all tables; the last one is --help; NULL past it. */
static const struct opt *option_at(const struct opts_command *cmd, size_t i)
{
	const struct opt *const *table;
	const struct opt *o;

	for (table = cmd->tables; table && *table; table++)
		for (o = *table; o->name; o++)
			if (!i--)
				return o;
	return i ? NULL : &help_option;
}

static bool takes_value(const struct opt *o)
{
	return o->type == OPT_CALL ? o->value != NULL : o->type != OPT_FLAG;
}

/* --- numbers --- */

static int parse_u64(const char *s, uint64_t *value)
{
	uint64_t v = 0;
	bool fits = true;

	if (!*s || s[strspn(s, "0123456789")])
		return -EINVAL;
	for (; *s; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			fits = false;
	if (!fits)
		return -ERANGE;
	*value = v;
	return 0;
}

static int parse_number(const struct opt *o, const char *s, uint64_t *value)
{
	if (o->type == OPT_TIME)
		return fmt_parse_time(s, value);
	if (o->type == OPT_SIZE)
		return fmt_parse_size(s, value);
	return parse_u64(s, value);
}

static const char *no_number(const struct opt *o)
{
	if (o->type == OPT_TIME)
		return "is no time; use e.g. 100ms, 5s, 2m";
	if (o->type == OPT_SIZE)
		return "is no size; use e.g. 64k, 16M, 1G";
	return "is no whole number";
}

static bool is_number(const struct opt *o)
{
	return o->type == OPT_U64 || o->type == OPT_TIME || o->type == OPT_SIZE;
}

static char *limit_text(const struct opt *o, uint64_t limit, char *buf, size_t size)
{
	if (o->type == OPT_TIME)
		return fmt_time_arg(buf, size, limit);
	if (o->type == OPT_SIZE)
		return fmt_size_arg(buf, size, limit);
	snprintf(buf, size, "%" PRIu64, limit);
	return buf;
}

static uint64_t upper_limit(const struct opt *o)
{
	return o->max ? o->max : UINT64_MAX;
}

/* "100ms to 1h", in the form in which it can be typed; "" when any value will do. */
static void range_text(const struct opt *o, char *buf, size_t size)
{
	char low[FMT_LEN], high[FMT_LEN];

	limit_text(o, o->min, low, sizeof(low));
	limit_text(o, o->max, high, sizeof(high));
	if (upper_limit(o) < UINT64_MAX)
		snprintf(buf, size, "%s to %s", low, high);
	else if (o->min)
		snprintf(buf, size, "at least %s", low);
	else
		snprintf(buf, size, "%s", "");
}

static int set_number(struct parser *p, const struct opt *o, const char *value)
{
	void *where = (char *)p->into + o->offset;
	char range[2 * FMT_LEN + 8];
	uint64_t v = 0;
	int err = parse_number(o, value, &v);

	if (err == -EINVAL)
		return log_err(-EINVAL, "%s: --%s: \"%s\" %s", p->cmd->name, o->name, value,
			       no_number(o));
	range_text(o, range, sizeof(range));
	if (err && upper_limit(o) == UINT64_MAX)
		return log_err(-EINVAL, "%s: --%s: \"%s\" is too large", p->cmd->name, o->name,
			       value);
	if (err || v < o->min || v > upper_limit(o))
		return log_err(-EINVAL, "%s: --%s: \"%s\" is out of range; use %s", p->cmd->name,
			       o->name, value, range);
	*(uint64_t *)where = v;
	return 0;
}

/* --- options --- */

static int set_option(struct parser *p, const struct opt *o, const char *value)
{
	void *where = (char *)p->into + o->offset;
	int err;

	if (o == &help_option) {
		opts_help(p->cmd, stdout);
		return 1;
	}
	if (is_number(o))
		return set_number(p, o, value);
	if (o->type == OPT_CALL) {
		err = o->call(where, value);
		return err < 0 ? err : 0;
	}
	if (o->type == OPT_FLAG)
		*(bool *)where = true;
	else
		*(const char **)where = value;
	return 0;
}

/* The value of option o: what is attached to it, else the next argument, which is then used up. */
static int with_value(struct parser *p, const struct opt *o, const char *attached)
{
	if (!attached && p->at + 1 < p->argc && strcmp(p->argv[p->at + 1], "--"))
		attached = p->argv[++p->at];
	if (!attached)
		return log_err(-EINVAL, "%s: --%s needs a value: --%s %s", p->cmd->name, o->name,
			       o->name, o->value);
	return set_option(p, o, attached);
}

static int unknown(struct parser *p, const char *dashes, const char *name, size_t len)
{
	return log_err(-EINVAL, "%s: unknown option %s%.*s (see kdefer %s --help)", p->cmd->name,
		       dashes, (int)len, name, p->cmd->name);
}

static int ambiguous(struct parser *p, const char *name, size_t len)
{
	char list[1024] = "";
	const struct opt *o;
	size_t i, used = 0;

	for (i = 0; (o = option_at(p->cmd, i)); i++) {
		if (strncmp(o->name, name, len))
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s--%s",
					 used ? ", " : "", o->name);
		if (used >= sizeof(list)) /* cut: more than anybody wants to choose from */
			break;
	}
	return log_err(-EINVAL, "%s: --%.*s is ambiguous: %s", p->cmd->name, (int)len, name, list);
}

/* By its whole name, or by a prefix that only one name has. */
static int find_long(struct parser *p, const char *name, size_t len, const struct opt **found)
{
	const struct opt *o;
	int matches = 0;
	size_t i;

	for (i = 0; len && (o = option_at(p->cmd, i)); i++) {
		if (strncmp(o->name, name, len))
			continue;
		*found = o;
		if (!o->name[len])
			return 0;
		matches++;
	}
	if (!matches)
		return unknown(p, "--", name, len ? len : strlen(name));
	return matches > 1 ? ambiguous(p, name, len) : 0;
}

static int parse_long(struct parser *p, const char *arg)
{
	size_t len = strcspn(arg, "=");
	const char *attached = arg[len] ? arg + len + 1 : NULL;
	const struct opt *o = NULL;
	int err = find_long(p, arg, len, &o);

	if (err)
		return err;
	if (takes_value(o))
		return with_value(p, o, attached);
	if (attached)
		return log_err(-EINVAL, "%s: --%s takes no value", p->cmd->name, o->name);
	return set_option(p, o, NULL);
}

static const struct opt *find_letter(const struct opts_command *cmd, char letter)
{
	const struct opt *o;
	size_t i;

	for (i = 0; (o = option_at(cmd, i)); i++)
		if (o->letter == letter)
			return o;
	return NULL;
}

/* One letter or several; the first that takes a value takes the rest as that. */
static int parse_letters(struct parser *p, const char *arg)
{
	const struct opt *o;
	int err;

	for (; *arg; arg++) {
		o = find_letter(p->cmd, *arg);
		if (!o)
			return unknown(p, "-", arg, 1);
		if (takes_value(o))
			return with_value(p, o, arg[1] ? arg + 1 : NULL);
		err = set_option(p, o, NULL);
		if (err)
			return err;
	}
	return 0;
}

static int take_argument(struct parser *p, struct opts_rest *rest, char *arg)
{
	if (rest->nargs >= p->cmd->max_args)
		return log_err(-EINVAL, "%s: unexpected argument \"%s\" (see kdefer %s --help)",
			       p->cmd->name, arg, p->cmd->name);
	/* Never overtakes p->at: every argument moved to the front was further back. */
	rest->args[rest->nargs++] = arg;
	return 0;
}

/* At the "--": what follows is a command, whole and untouched. */
static int take_command(struct parser *p, struct opts_rest *rest)
{
	char **command = p->argv + p->at + 1;

	p->at = p->argc;
	if (!*command && p->cmd->takes_command)
		return log_err(-EINVAL, "%s: no command after \"--\"", p->cmd->name);
	if (*command && !p->cmd->takes_command)
		return log_err(-EINVAL, "%s: takes no command, but \"%s\" follows \"--\"",
			       p->cmd->name, *command);
	if (*command)
		rest->command = command;
	return 0;
}

static int parse_next(struct parser *p, struct opts_rest *rest)
{
	char *arg = p->argv[p->at];

	if (!strcmp(arg, "--"))
		return take_command(p, rest);
	if (!strncmp(arg, "--", 2))
		return parse_long(p, arg + 2);
	if (arg[0] == '-' && arg[1]) /* "-" alone is a file name: standard input */
		return parse_letters(p, arg + 1);
	return take_argument(p, rest, arg);
}

int opts_parse(const struct opts_command *cmd, int argc, char **argv, void *into,
	       struct opts_rest *rest)
{
	struct parser p = { .cmd = cmd, .argc = argc, .at = 1, .argv = argv, .into = into };
	int err;

	*rest = (struct opts_rest){ .args = argc > 0 ? argv + 1 : argv };
	for (; p.at < argc; p.at++) {
		err = parse_next(&p, rest);
		if (err)
			return err;
	}
	rest->args[rest->nargs] = NULL;
	return 0;
}

/* --- help --- */

#define HELP_LEFT_MAX \
	30 /* of all columns; an option that is longer has its help on the next line */
#define HELP_COLUMNS_MIN 30

static size_t help_columns = OPTS_HELP_COLUMNS;

void opts_help_width(size_t columns)
{
	help_columns = columns > OPTS_HELP_COLUMNS  ? OPTS_HELP_COLUMNS
		       : columns < HELP_COLUMNS_MIN ? HELP_COLUMNS_MIN
						    : columns;
}

/* Length of the next word; what stands in brackets is one word, unless no line has room for it. */
static size_t word_length(const char *s, size_t room)
{
	size_t len;
	int depth = 0;

	for (len = 0; s[len] && (s[len] != ' ' || depth > 0); len++)
		depth += (s[len] == '[') - (s[len] == ']');
	return len <= room ? len : strcspn(s, " ");
}

/* Writes text from column `at` on, further lines from `indent` on; returns where it ends. */
static size_t wrap(FILE *out, const char *text, size_t at, size_t indent)
{
	size_t len;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		len = word_length(text, help_columns - indent);
		if (at > indent && at + 1 + len > help_columns) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fwrite(text, 1, len, out);
		at += len;
		text += len;
	}
	return at;
}

static int left_text(const struct opt *o, char *buf, size_t size)
{
	char letter[] = "    ";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	return snprintf(buf, size, "  %s--%s%s%s", letter, o->name, takes_value(o) ? " " : "",
			takes_value(o) ? o->value : "");
}

/* Where the right column begins: two spaces behind the widest left one that is not too wide. */
static size_t right_column(const struct opts_command *cmd)
{
	const struct opt *o;
	char left[128];
	int width, widest = 0, most = (int)(HELP_LEFT_MAX * help_columns / OPTS_HELP_COLUMNS);
	size_t i;

	for (i = 0; (o = option_at(cmd, i)); i++) {
		width = left_text(o, left, sizeof(left));
		if (width > widest && width <= most)
			widest = width;
	}
	return (size_t)widest + 2;
}

static void help_line(FILE *out, const struct opt *o, size_t column)
{
	char left[128], range[2 * FMT_LEN + 8] = "", note[sizeof(range) + 2];
	size_t at = (size_t)left_text(o, left, sizeof(left));

	fputs(left, out);
	if (at + 2 > column) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", (int)(column - at), "");
	at = wrap(out, o->help, column, column);
	if (o->help_list)
		at = wrap(out, o->help_list(), at, column);
	if (is_number(o))
		range_text(o, range, sizeof(range));
	if (*range) {
		snprintf(note, sizeof(note), "(%s)", range);
		wrap(out, note, at, column);
	}
	fputc('\n', out);
}

void opts_help(const struct opts_command *cmd, FILE *out)
{
	size_t i, column = right_column(cmd);
	const struct opt *o;
	int at = fprintf(out, "Usage: kdefer %s", cmd->name);

	if (at > 0 && cmd->usage)
		wrap(out, cmd->usage, (size_t)at, strlen("Usage: "));
	fputs("\n\n", out);
	wrap(out, cmd->summary, 0, 0);
	fputs("\n\nOptions:\n", out);
	for (i = 0; (o = option_at(cmd, i)); i++)
		help_line(out, o, column);
}
