// SPDX-License-Identifier: GPL-2.0-only
/*
 * screen.c - the one file that owns the terminal.
 *
 * Handlers only set flags and wake the loop; what they ask for is done in screen_input(). The exception
 * are signals that end the process: they write back what was prepared when the terminal was taken.
 */
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "screen.h"
#include "terminal.h"

#define ESCAPE_MS 25 /* the rest of a key's sequence comes at once, or it was the key Escape */
#define RESTORE_LEN 512
#define ALT_STACK (64 << 10)

static struct {
	bool open;
	SCREEN *screen;
	FILE *in;
	bool own_in;
	bool ascii;
	int wake[2]; /* handlers write, the loop reads */
	struct termios before;
	char restore[RESTORE_LEN]; /* what makes the terminal as it was */
	size_t restore_len;
	struct canvas shown;
	attr_t attr[STYLES];
	short pair[STYLES];
} term = { .wake = { -1, -1 } };

static volatile sig_atomic_t resized, suspended, continued, taken;

/* --- signals --- */

void screen_restore(void)
{
	int saved = errno;

	if (taken) {
		taken = 0;
		if (write(STDOUT_FILENO, term.restore, term.restore_len) < 0)
			errno = 0; /* there is nobody to tell */
		tcsetattr(fileno(term.in), TCSANOW, &term.before);
	}
	errno = saved;
}

static void on_death(int sig)
{
	screen_restore();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_event(int sig)
{
	int saved = errno;

	if (sig == SIGWINCH)
		resized = 1;
	else if (sig == SIGTSTP)
		suspended = 1;
	else
		continued = 1;
	if (write(term.wake[1], "", 1) < 0)
		errno = 0; /* the pipe is full: the loop wakes anyway */
	errno = saved;
}

static const int deadly[] = { SIGSEGV, SIGBUS,  SIGFPE,    SIGILL,  SIGABRT, SIGSYS,
			      SIGQUIT, SIGXCPU, SIGXFSZ,   SIGUSR1, SIGUSR2, SIGALRM,
			      SIGPROF, SIGPOLL, SIGVTALRM, SIGPWR,  SIGTRAP };
static const int events[] = { SIGWINCH, SIGTSTP, SIGCONT };

static void set_handlers(void (*death)(int), void (*event)(int))
{
	static char stack[ALT_STACK]; /* a stack that ran over is no place for a handler */
	const stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = death, .sa_flags = SA_NODEFER | SA_ONSTACK };
	struct sigaction ev = { .sa_handler = event, .sa_flags = SA_RESTART };

	if (death != SIG_DFL)
		sigaltstack(&alt, NULL);
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		sigaction(deadly[i], &sa, NULL);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		sigaction(events[i], &ev, NULL);
}

/* --- what the terminal can --- */

static bool says_utf8(const char *s)
{
	return s && (strcasestr(s, "UTF-8") || strcasestr(s, "utf8"));
}

/* A locale that this C library does not find may still say what the terminal understands. */
static bool has_utf8(void)
{
	const char *all = getenv("LC_ALL"), *ctype = getenv("LC_CTYPE"), *lang = getenv("LANG");
	const char *name = all && *all ? all : ctype && *ctype ? ctype : lang;

	if (!setlocale(LC_CTYPE, "") && says_utf8(name))
		setlocale(LC_CTYPE, "C.UTF-8");
	return says_utf8(nl_langinfo(CODESET));
}

static int refuse(char *why, int err, const char *reason)
{
	snprintf(why, SCREEN_WHY, "%s", reason);
	return err;
}

static int open_keys(char *why)
{
	term.in = stdin;
	term.own_in = !isatty(STDIN_FILENO);
	if (term.own_in)
		term.in = fopen("/dev/tty", "re");
	if (!term.in || tcgetattr(fileno(term.in), &term.before))
		return refuse(why, -ENOTTY, "there are no keys to read");
	return 0;
}

/* --- colours --- */

struct look {
	short few, many; /* of 8 colours and of 256; -1: the terminal's own */
	attr_t attr, plain;
};

static const struct look looks[STYLES] = {
	[STYLE_NORMAL] = { -1, -1, A_NORMAL, A_NORMAL },
	[STYLE_DIM] = { -1, -1, A_DIM, A_NORMAL },
	[STYLE_BOLD] = { -1, -1, A_BOLD, A_BOLD },
	[STYLE_TITLE] = { COLOR_GREEN, 71, A_REVERSE, A_REVERSE },
	[STYLE_SELECTED] = { COLOR_CYAN, 80, A_REVERSE, A_REVERSE },
	[STYLE_UNUSUAL] = { COLOR_YELLOW, 220, A_BOLD, A_BOLD },
	[STYLE_BAD] = { COLOR_RED, 203, A_BOLD, A_BOLD },
	[STYLE_GOOD] = { COLOR_GREEN, 78, A_NORMAL, A_NORMAL },
	[STYLE_HEAT] = { COLOR_BLUE, 25, A_NORMAL, A_NORMAL },
	[STYLE_HEAT + 1] = { COLOR_BLUE, 31, A_NORMAL, A_NORMAL },
	[STYLE_HEAT + 2] = { COLOR_CYAN, 37, A_NORMAL, A_NORMAL },
	[STYLE_HEAT + 3] = { COLOR_CYAN, 71, A_NORMAL, A_NORMAL },
	[STYLE_HEAT + 4] = { COLOR_GREEN, 148, A_NORMAL, A_NORMAL },
	[STYLE_HEAT + 5] = { COLOR_YELLOW, 220, A_NORMAL, A_NORMAL },
	[STYLE_HEAT + 6] = { COLOR_YELLOW, 208, A_NORMAL, A_NORMAL },
	[STYLE_HEAT + 7] = { COLOR_RED, 196, A_NORMAL, A_NORMAL },
};

static void set_looks(void)
{
	const char *no_color = getenv("NO_COLOR");
	bool colours = !(no_color && *no_color) && has_colors() && start_color() == OK;

	if (colours)
		use_default_colors();
	for (short i = 0; i < STYLES; i++) {
		short colour = COLORS >= 256 ? looks[i].many : looks[i].few;

		term.attr[i] = colours ? looks[i].attr : looks[i].plain;
		term.pair[i] = 0;
		if (colours && colour >= 0 && init_pair(i, colour, -1) == OK)
			term.pair[i] = i;
	}
}

/* --- open and close --- */

static int take_terminal(char *why)
{
	term.restore_len = terminal_restore_text(term.restore, sizeof(term.restore));
	if (pipe2(term.wake, O_NONBLOCK | O_CLOEXEC))
		return refuse(why, -errno, "no pipe can be made");
	/* Before ncurses looks: what has a handler it leaves alone. */
	set_handlers(on_death, on_event);
	taken = 1;
	term.screen = newterm(NULL, stdout, term.in);
	if (!term.screen)
		return refuse(why, -EIO, "the terminal cannot be set up");
	term.open = true;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	set_looks();
	return 0;
}

int screen_open(char *why)
{
	static bool registered;
	int err = terminal_find(why, SCREEN_WHY);

	if (!err)
		err = open_keys(why);
	if (err)
		return err;
	if (!registered && !atexit(screen_close))
		registered = true;
	term.ascii = !has_utf8();
	err = take_terminal(why);
	if (err)
		screen_close();
	return err;
}

void screen_close(void)
{
	if (term.open) {
		endwin();
		delscreen(term.screen);
	}
	if (term.open || taken) {
		/* What endwin() leaves, and what it cannot know. */
		tcsetattr(fileno(term.in), TCSADRAIN, &term.before);
		set_handlers(SIG_DFL, SIG_DFL);
	}
	taken = 0;
	term.open = false;
	if (term.own_in && term.in)
		fclose(term.in);
	term.in = NULL;
	term.own_in = false;
	for (int i = 0; i < 2; i++) {
		if (term.wake[i] >= 0)
			close(term.wake[i]);
		term.wake[i] = -1;
	}
	canvas_free(&term.shown);
}

void screen_size(int *rows, int *columns)
{
	getmaxyx(stdscr, *rows, *columns);
}

bool screen_ascii(void)
{
	return term.ascii;
}

/* --- showing --- */

static void put_cell(int row, int column, const struct cell *c)
{
	const wchar_t text[2] = { (wchar_t)c->ch, L'\0' };
	cchar_t out;

	if (!c->ch) /* the right half of the one before */
		return;
	if (setcchar(&out, text, term.attr[c->style], term.pair[c->style], NULL) == OK)
		mvadd_wch(row, column, &out);
}

static bool is_same_size(const struct canvas *a, const struct canvas *b)
{
	return a->rows == b->rows && a->columns == b->columns;
}

void screen_put(const struct canvas *c)
{
	size_t n = (size_t)c->rows * (size_t)c->columns;
	bool all = !is_same_size(c, &term.shown);

	if (!term.open || (all && canvas_resize(&term.shown, c->rows, c->columns)))
		return;
	for (int row = 0; row < c->rows; row++)
		for (int column = 0; column < c->columns; column++) {
			size_t i = (size_t)row * (size_t)c->columns + (size_t)column;

			if (all || c->cell[i].ch != term.shown.cell[i].ch ||
			    c->cell[i].style != term.shown.cell[i].style)
				put_cell(row, column, &c->cell[i]);
		}
	memcpy(term.shown.cell, c->cell, n * sizeof(*c->cell));
	refresh();
}

/* All is to be sent again: nobody knows what is there. */
static void forget(void)
{
	canvas_free(&term.shown);
	clearok(curscr, TRUE);
}

/* --- input --- */

static void stop_here(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL }, ours;
	sigset_t stop, before;

	def_prog_mode();
	endwin();
	tcsetattr(fileno(term.in), TCSADRAIN, &term.before);
	sigaction(SIGTSTP, &sa, &ours);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	taken = 0;
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &before); /* here it stops, if it was blocked */
	sigprocmask(SIG_SETMASK, &before, NULL);
	taken = 1;
	sigaction(SIGTSTP, &ours, NULL);
}

/* The shell may have changed it meanwhile, and its size. */
static void come_back(void)
{
	reset_prog_mode();
	resized = 1;
	forget();
}

static void take_size(void)
{
	struct winsize ws;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col)
		resizeterm(ws.ws_row, ws.ws_col);
	forget();
}

static bool serve_signals(void)
{
	char drop[64];
	bool any = resized || suspended || continued;

	while (read(term.wake[0], drop, sizeof(drop)) > 0)
		;
	if (suspended) {
		suspended = 0;
		stop_here();
		continued = 1;
	}
	if (continued) {
		continued = 0;
		come_back();
	}
	if (resized) {
		resized = 0;
		take_size();
	}
	return any;
}

static const struct {
	int curses, input;
} known[] = {
	{ KEY_UP, INPUT_UP },
	{ KEY_DOWN, INPUT_DOWN },
	{ KEY_LEFT, INPUT_LEFT },
	{ KEY_RIGHT, INPUT_RIGHT },
	{ KEY_PPAGE, INPUT_PAGE_UP },
	{ KEY_NPAGE, INPUT_PAGE_DOWN },
	{ KEY_HOME, INPUT_HOME },
	{ KEY_FIND, INPUT_HOME },
	{ KEY_END, INPUT_END },
	{ KEY_SELECT, INPUT_END },
	{ KEY_ENTER, INPUT_ENTER },
	{ KEY_BTAB, INPUT_BACK_TAB },
	{ KEY_BACKSPACE, INPUT_BACKSPACE },
	{ KEY_RESIZE, INPUT_REDRAW },
};

static int from_curses(int key)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].curses == key)
			return known[i].input;
	if (key >= KEY_F(1) && key <= KEY_F(10))
		return INPUT_F1 + (key - KEY_F(1));
	return INPUT_OTHER;
}

static int from_character(wint_t c)
{
	switch (c) {
	case '\r':
	case '\n':
		return INPUT_ENTER;
	case '\t':
		return INPUT_TAB;
	case 8:
	case 127:
		return INPUT_BACKSPACE;
	case 'L' - '@':
		forget();
		return INPUT_REDRAW;
	}
	return (int)c;
}

int screen_input(void)
{
	wint_t c;
	int kind;

	if (!term.open)
		return INPUT_NONE;
	if (serve_signals())
		return INPUT_REDRAW;
	kind = get_wch(&c);
	if (kind == KEY_CODE_YES)
		return from_curses((int)c);
	return kind == OK ? from_character(c) : INPUT_NONE;
}

void screen_poll(struct pollfd p[SCREEN_FDS])
{
	p[0] = (struct pollfd){ .fd = term.open ? fileno(term.in) : -1, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = term.open ? term.wake[0] : -1, .events = POLLIN };
}
