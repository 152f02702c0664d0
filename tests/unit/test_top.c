// SPDX-License-Identifier: GPL-2.0-only
/* test_top.c - histories, the canvas, the table of keys, and what keys do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "restate.h"
#include "screen.h"
#include "top_draw.h"
#include "top_keys.h"
#include "track.h"

#define S 1000000000ULL

/* --- histories --- */

static void feed(struct tracks *t, double v)
{
	tracks_next(t);
	track_set(tracks_get(t, "x"), TRACK_PENDING, v);
}

static bool is_unusual(struct tracks *t, double v)
{
	feed(t, v);
	return track_unusual(tracks_find(t, "x"), TRACK_PENDING);
}

static void unusual_is_against_history(void **state)
{
	struct tracks t;
	int i;

	(void)state;
	tracks_init(&t);
	for (i = 0; i < 9; i++)
		feed(&t, 100);
	assert_false(is_unusual(&t, 100000)); /* nine are too few to tell */
	tracks_forget(&t);
	for (i = 0; i < 10; i++)
		feed(&t, 100 + i);
	assert_false(is_unusual(&t, 200)); /* not twice the median */
	tracks_forget(&t);
	for (i = 0; i < 10; i++)
		feed(&t, 100 + i);
	assert_true(is_unusual(&t, 220));
	assert_false(is_unusual(&t, 220)); /* it was there before */
	for (i = 0; i < 60; i++)
		feed(&t, 100);
	assert_true(is_unusual(&t, 220)); /* more than 60 intervals ago: forgotten */
	tracks_free(&t);
}

static void histories_have_holes(void **state)
{
	const struct track *k;
	struct tracks t;

	(void)state;
	tracks_init(&t);
	feed(&t, 1);
	tracks_next(&t);
	tracks_next(&t);
	feed(&t, 2);
	k = tracks_find(&t, "x");
	assert_true(track_value(k, TRACK_PENDING, 0) == 2);
	assert_true(track_value(k, TRACK_PENDING, 1) != track_value(k, TRACK_PENDING, 1)); /* NAN */
	assert_true(track_value(k, TRACK_PENDING, 3) == 1);
	for (int i = 0; i < TRACK_LENGTH; i++)
		tracks_next(&t);
	feed(&t, 3);
	assert_true(track_value(k, TRACK_PENDING, 4) != track_value(k, TRACK_PENDING, 4));
	assert_null(tracks_find(&t, "y"));
	tracks_free(&t);
}

static void heat_grows_with_the_count(void **state)
{
	struct tracks t;
	struct track *k;
	struct hist h;

	(void)state;
	tracks_init(&t);
	tracks_next(&t);
	k = tracks_get(&t, "x");
	hist_init(&h);
	hist_add(&h, 1);
	for (int i = 0; i < 1000; i++)
		hist_add(&h, 1 << 20);
	hist_add(&h, UINT64_MAX);
	track_set_heat(k, &h, 7);
	assert_int_equal(track_heat(k, 0, 0), 1); /* what is below the first is in it */
	assert_int_equal(track_heat(k, 12, 0), 0);
	assert_int_equal(track_heat(k, 13, 0), 1 + 2 * 9 + 1);
	assert_int_equal(track_heat(k, TRACK_OCTAVES - 1, 0), 1);
	tracks_free(&t);
}

static void histories_are_bounded(void **state)
{
	struct tracks t;
	char name[16];

	(void)state;
	tracks_init(&t);
	for (int i = 0; i < TRACKS_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_non_null(tracks_get(&t, name));
	}
	assert_null(tracks_get(&t, "one more"));
	assert_non_null(tracks_get(&t, "17"));
	for (int i = 0; i < TRACK_LENGTH; i++)
		tracks_next(&t);
	assert_non_null(tracks_get(&t, "17"));
	tracks_prune(&t);
	assert_int_equal(t.n, TRACKS_MAX); /* they have been quiet for a little less */
	tracks_next(&t);
	tracks_prune(&t);
	assert_int_equal(t.n, 1);
	assert_non_null(tracks_find(&t, "17"));
	assert_null(tracks_find(&t, "18"));
	assert_non_null(tracks_get(&t, "one more"));
	tracks_free(&t);
}

/* --- canvas --- */

static char *text_of(const struct canvas *c)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	canvas_print(c, out);
	fclose(out);
	return text;
}

static void expect_text(const struct canvas *c, const char *want)
{
	char *text = text_of(c);

	assert_string_equal(text, want);
	free(text);
}

static void canvas_cuts_at_its_edges(void **state)
{
	struct canvas c = { 0 };

	(void)state;
	assert_int_equal(canvas_resize(&c, 2, 6), 0);
	assert_int_equal(canvas_text(&c, 0, 4, STYLE_NORMAL, "abcdef", 100), 2);
	assert_int_equal(canvas_text(&c, 0, -1, STYLE_NORMAL, "xyz", 100), 3);
	canvas_text(&c, 7, 0, STYLE_NORMAL, "nowhere", 100);
	canvas_put(&c, -1, 99, STYLE_NORMAL, 'x');
	canvas_right(&c, 1, 6, STYLE_NORMAL, "end");
	expect_text(&c, "yz  ab\n   end\n");
	canvas_free(&c);
}

static void canvas_obeys_nothing(void **state)
{
	struct canvas c = { 0 };

	(void)state;
	assert_int_equal(canvas_resize(&c, 1, 20), 0);
	canvas_text(&c, 0, 0, STYLE_NORMAL, "a\033[2J\x9b\xff\007z\xc2\x9b", 100);
	expect_text(&c, "a?[2J???z?\n");
	c.ascii = true;
	canvas_blank(&c);
	canvas_text(&c, 0, 0, STYLE_NORMAL, "\xc3\xa4 \xe6\xbc\xa2 x", 100);
	expect_text(&c, "? ?  x\n");
	canvas_free(&c);
}

static void wide_characters_stay_whole(void **state)
{
	struct canvas c = { 0 };

	(void)state;
	assert_int_equal(canvas_resize(&c, 1, 5), 0);
	assert_int_equal(
		canvas_text(&c, 0, 0, STYLE_NORMAL, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 9), 4);
	expect_text(&c, "\xe6\xbc\xa2\xe5\xad\x97\n");
	canvas_put(&c, 0, 1, STYLE_NORMAL, '|'); /* over the right half of one */
	expect_text(&c, " |\xe5\xad\x97\n");
	canvas_put(&c, 0, 2, STYLE_NORMAL, '|'); /* over the left half of the other */
	expect_text(&c, " ||\n");
	canvas_free(&c);
}

/* --- keys --- */

static void every_key_is_told_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < top_nkeys; i++) {
		assert_true(*top_keys[i].help);
		for (int k = 0; k < TOP_KEY_INPUTS; k++)
			if (top_keys[i].input[k])
				assert_int_equal(top_key_action(top_keys[i].input[k]),
						 top_keys[i].action);
	}
	for (int act = ACT_NONE + 1; act <= ACT_QUIT; act++) {
		int told = 0;

		for (size_t i = 0; i < top_nkeys; i++)
			told += top_keys[i].action == (enum top_action)act;
		assert_int_equal(told, 1);
	}
	assert_int_equal(top_key_action('5'), ACT_VIEW);
	assert_int_equal(top_key_action(0), ACT_NONE);
	assert_int_equal(top_key_action(INPUT_OTHER), ACT_NONE);
}

/* --- what keys do --- */

static char *names[] = { "b", "a", "c" };

static void make_rows(struct top_snap *s, struct top_row *rows)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < 3; i++) {
		rows[i] = (struct top_row){ .kind = TOP_SUM, .name = names[i], .id = names[i] };
		for (int c = 0; c < TOP_COLUMNS; c++)
			rows[i].v[c] = i == 1 ? 7 : i;
	}
	s->rows = rows;
	s->n = 3;
}

static void expect_order(const struct top_ui *ui, const struct top_snap *s, const char *want)
{
	const struct top_row **list;
	char got[8] = "";
	size_t n;

	assert_int_equal(top_ui_rows(ui, s, &list, &n), 0);
	for (size_t i = 0; i < n; i++)
		strcat(got, list[i]->name);
	free(list);
	assert_string_equal(got, want);
}

static void rows_are_sorted_and_filtered(void **state)
{
	struct top_row rows[3];
	struct top_snap s;
	struct top_ui ui;

	(void)state;
	make_rows(&s, rows);
	top_ui_init(&ui);
	expect_order(&ui, &s, "bac");
	top_ui_input(&ui, &s, '>'); /* by what is pending */
	assert_true(ui.sorted);
	assert_int_equal(ui.sort, TOP_PENDING);
	expect_order(&ui, &s, "acb");
	top_ui_input(&ui, &s, 'I');
	expect_order(&ui, &s, "bca");
	top_ui_input(&ui, &s, '<');
	assert_int_equal(ui.sort, TOP_NAME);
	top_ui_input(&ui, &s, 'I');
	expect_order(&ui, &s, "abc");
	top_ui_input(&ui, &s, '<');
	assert_false(ui.sorted);
	top_ui_input(&ui, &s, '\\');
	top_ui_input(&ui, &s, 'C');
	expect_order(&ui, &s, "c");
	top_ui_input(&ui, &s, INPUT_BACKSPACE);
	top_ui_input(&ui, &s, 'q'); /* a letter like any other here */
	expect_order(&ui, &s, "");
	top_ui_input(&ui, &s, INPUT_ESCAPE);
	expect_order(&ui, &s, "bac");
	top_ui_free(&ui);
}

static void the_selected_row_stays(void **state)
{
	const struct top_row **list;
	struct top_row rows[3];
	struct top_snap s;
	struct top_ui ui;
	size_t n;

	(void)state;
	make_rows(&s, rows);
	top_ui_init(&ui);
	top_ui_input(&ui, &s, 'j');
	top_ui_input(&ui, &s, '>'); /* "a" is first now */
	assert_int_equal(top_ui_rows(&ui, &s, &list, &n), 0);
	assert_string_equal(list[top_ui_selected(&ui, list, n)]->name, "a");
	free(list);
	top_ui_input(&ui, &s, INPUT_END);
	top_ui_input(&ui, &s, INPUT_PAGE_DOWN);
	top_ui_input(&ui, &s, INPUT_DOWN);
	assert_string_equal(ui.selected[VIEW_OVERVIEW], "b");
	top_ui_free(&ui);
}

static void keys_ask(void **state)
{
	struct top_snap s = { 0 };
	struct top_ui ui;

	(void)state;
	top_ui_init(&ui);
	ui.interval_ns = S;
	assert_int_equal(top_ui_input(&ui, &s, '+'), ASK_INTERVAL);
	assert_true(ui.interval_ns == 2 * S);
	for (int i = 0; i < 40; i++)
		top_ui_input(&ui, &s, '-');
	assert_true(ui.interval_ns == S / 10);
	for (int i = 0; i < 70; i++)
		top_ui_input(&ui, &s, '+');
	assert_true(ui.interval_ns == 3600 * S);
	top_ui_input(&ui, &s, 'd');
	for (const char *c = "1.5"; *c; c++)
		assert_int_equal(top_ui_input(&ui, &s, *c), ASK_NOTHING);
	assert_int_equal(top_ui_input(&ui, &s, INPUT_ENTER), ASK_INTERVAL);
	assert_true(ui.interval_ns == 3 * S / 2);
	assert_int_equal(top_ui_input(&ui, &s, 'p'), ASK_PAUSE);
	assert_true(ui.paused);
	assert_int_equal(top_ui_input(&ui, &s, 's'), ASK_NOTHING);
	assert_int_equal(top_ui_input(&ui, &s, 'r'), ASK_RECORD);
	ui.replay = true;
	assert_int_equal(top_ui_input(&ui, &s, 's'), ASK_STEP);
	assert_int_equal(top_ui_input(&ui, &s, 'r'), ASK_NOTHING);
	assert_int_equal(top_ui_input(&ui, &s, 'q'), ASK_QUIT);
	top_ui_free(&ui);
}

/* Nothing at all to show, at any size, in any view: it draws. */
static void any_size_can_be_drawn(void **state)
{
	static const int sides[] = { 1, 2, 3, 5, 7, 10, 17, 24, 60 };
	struct top_row rows[3];
	struct top_snap none = { 0 }, s;
	struct canvas c = { 0 };
	struct top_ui ui;

	(void)state;
	none.host = none.time = none.held = none.cost = none.warning = "";
	make_rows(&s, rows);
	s.host = "host";
	s.time = s.held = s.cost = s.warning = "";
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++)
		for (size_t k = 0; k < sizeof(sides) / sizeof(sides[0]); k++)
			for (int view = 0; view < TOP_VIEWS; view++)
				for (int pane = PANE_HEAT; pane <= PANE_CPUS; pane++) {
					top_ui_init(&ui);
					ui.view = (enum top_view)view;
					ui.pane = (enum top_pane)pane;
					assert_int_equal(canvas_resize(&c, sides[i], 5 * sides[k]),
							 0);
					assert_int_equal(top_draw(&ui, &none, &c), 0);
					assert_int_equal(top_draw(&ui, &s, &c), 0);
					top_ui_free(&ui);
				}
	canvas_free(&c);
}

/* --- a model said again --- */

static int to_model(void *ctx, const struct kd_rec *rec)
{
	return model_record(ctx, rec);
}

static void say_all(struct stream *s)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	const char *const fact[] = { "hostname", "here" }, *const map[] = { "flows", "hash" };
	const char *const plan[] = { "fentry", "a b", "", "" };
	struct kd_rec_series series = { .rec = { KD_REC_SERIES, sizeof(series), 5 },
					.source = KD_SRC_CALL_RCU,
					.flavour = KD_FL_RCU,
					.key = { 77 },
					.name = "func [module]" };
	struct kd_rec_series who = { .rec = { KD_REC_SERIES, sizeof(who), 6 },
				     .source = KD_SRC_RSTAT,
				     .measure = KD_M_RSTAT_FLUSH,
				     .flavour = KD_FL_SUB_ALL,
				     .dim = KD_DIM_FLUSHER,
				     .key = { 12, 13 },
				     .name = "comm\0thread\0/group" };
	struct kd_rec_hist hist = { .rec = { KD_REC_HIST, sizeof(hist), 5 },
				    .group = 9,
				    .count = { 4, 0, 2 } };
	struct kd_rec_total lost = { .rec = { KD_REC_LOST, sizeof(lost), 0 },
				     .what = 1,
				     .total = 3 };
	struct kd_rec_pending list = { .rec = { KD_REC_PENDING, sizeof(list), 0 },
				       .source = KD_SRC_MEMALLOC,
				       .list = KD_LIST_FREE_LLIST,
				       .cpu = 2,
				       .key = 12,
				       .unit_size = 64,
				       .flags = KD_PENDING_EXACT,
				       .length = 9,
				       .bytes = 576,
				       .age_ns = KD_UNKNOWN };
	struct kd_rec_gp gp = { .rec = { KD_REC_GP, sizeof(gp), 0 },
				.flavour = KD_FL_RCU,
				.state = KD_GP_WAITING,
				.cpus_owed = 1,
				.seq = 44,
				.age_ns = 5 };
	struct kd_rec_owed owed = { .rec = { KD_REC_OWED, sizeof(owed), 0 },
				    .flavour = KD_FL_RCU,
				    .cpu = 3 };
	struct kd_rec_tick tick = { .rec = { KD_REC_TICK, sizeof(tick), 0 },
				    .mono_ns = S,
				    .complete = 1 };
	const struct kd_rec *text = stream_make_text(buf, KD_REC_HOST, 0, 0, fact, 2);

	stream_record(s, text, text->len);
	text = stream_make_text(buf, KD_REC_PLAN, KD_FL_RCU << 16 | 1 << 24 | 1ULL << 32, 0, plan,
				4);
	stream_record(s, text, text->len);
	text = stream_make_text(buf, KD_REC_NAME, KD_NAME_MAP | KD_SRC_MEMALLOC << 8, 12, map, 2);
	stream_record(s, text, text->len);
	stream_record(s, &series, sizeof(series));
	stream_record(s, &who, sizeof(who));
	stream_record(s, &hist, sizeof(hist));
	stream_record(s, &lost, sizeof(lost));
	stream_record(s, &list, sizeof(list));
	stream_record(s, &owed, sizeof(owed));
	stream_record(s, &gp, sizeof(gp));
	stream_record(s, &tick, sizeof(tick));
}

static void a_model_can_be_said_again(void **state)
{
	struct kd_rec_hist more = { .rec = { KD_REC_HIST, sizeof(more), 5 },
				    .group = 9,
				    .count = { 5, 0, 2 } };
	struct kd_rec_tick tick = {
		.rec = { KD_REC_TICK, sizeof(tick), 0 }, .mono_ns = 3 * S, .tick = 1, .complete = 1
	};
	struct model a, b;
	struct stream s, again;
	const struct series *f, *who;

	(void)state;
	model_init(&a);
	model_init(&b);
	stream_init(&s, to_model, &a);
	stream_init(&again, to_model, &b);
	say_all(&s);
	assert_int_equal(restate(&a, &again), 0);
	assert_int_equal(again.bad + again.unknown, 0);
	assert_true(b.started);
	assert_true(b.to_ns == S);
	assert_string_equal(model_fact(&b, "hostname"), "here");
	assert_int_equal(b.nplan, 1);
	assert_string_equal(b.plan[0].hooks, "a b");
	f = model_series(&b, 5);
	who = model_series(&b, 6);
	assert_string_equal(f->name[0], "func");
	assert_string_equal(f->name[1], "module");
	assert_true(f->key[0] == 77);
	assert_string_equal(who->name[1], "thread");
	assert_string_equal(who->name[2], "/group");
	assert_int_equal(hist_count(&f->hists->run), 0); /* what was before is the baseline */
	assert_true(b.source[0].total[1] == 3);
	assert_string_equal(pending_text(&b.pending, KD_NAME_MAP, KD_SRC_MEMALLOC, 12, 0), "flows");
	assert_true(b.pending.gp[KD_FL_RCU].gp.seq == 44);
	assert_int_equal(b.pending.gp[KD_FL_RCU].nowed, 1);
	assert_int_equal(b.pending.table.n, a.pending.table.n);
	/* And it goes on as the other. */
	stream_record(&again, &more, sizeof(more));
	stream_record(&again, &tick, sizeof(tick));
	assert_int_equal(hist_count(&model_series(&b, 5)->hists->run), 1);
	assert_int_equal(b.ticks, 1);
	model_free(&a);
	model_free(&b);
}

static void a_new_baseline_forgets(void **state)
{
	struct kd_rec_hist more = { .rec = { KD_REC_HIST, sizeof(more), 5 },
				    .group = 9,
				    .count = { 9, 0, 2 } };
	struct kd_rec_tick tick = {
		.rec = { KD_REC_TICK, sizeof(tick), 0 }, .mono_ns = 3 * S, .tick = 1, .complete = 1
	};
	struct kd_rec_total lost = { .rec = { KD_REC_LOST, sizeof(lost), 0 },
				     .what = 1,
				     .total = 8 };
	const struct scope sc = { .measures = UINT64_MAX };
	struct model m;
	struct stream s;

	(void)state;
	model_init(&m);
	stream_init(&s, to_model, &m);
	say_all(&s);
	stream_record(&s, &more, sizeof(more));
	stream_record(&s, &lost, sizeof(lost));
	stream_record(&s, &tick, sizeof(tick));
	assert_int_equal(hist_count(&model_series(&m, 5)->hists->run), 5);
	assert_int_equal(scope_lost(&m, &sc, 0, 1), 5);
	model_rebase(&m);
	assert_int_equal(hist_count(&model_series(&m, 5)->hists->run), 0);
	assert_int_equal(hist_count(&model_series(&m, 5)->hists->interval), 5);
	assert_int_equal(scope_lost(&m, &sc, 0, 1), 0);
	assert_true(scope_length_ns(&m, &sc) == 0);
	more.count[0] = 10;
	stream_record(&s, &more, sizeof(more));
	tick.tick = 2;
	tick.mono_ns = 4 * S;
	stream_record(&s, &tick, sizeof(tick));
	assert_int_equal(hist_count(&model_series(&m, 5)->hists->run), 1);
	assert_true(scope_length_ns(&m, &sc) == S);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unusual_is_against_history),
		cmocka_unit_test(histories_have_holes),
		cmocka_unit_test(heat_grows_with_the_count),
		cmocka_unit_test(histories_are_bounded),
		cmocka_unit_test(canvas_cuts_at_its_edges),
		cmocka_unit_test(canvas_obeys_nothing),
		cmocka_unit_test(wide_characters_stay_whole),
		cmocka_unit_test(every_key_is_told_once),
		cmocka_unit_test(rows_are_sorted_and_filtered),
		cmocka_unit_test(the_selected_row_stays),
		cmocka_unit_test(keys_ask),
		cmocka_unit_test(any_size_can_be_drawn),
		cmocka_unit_test(a_model_can_be_said_again),
		cmocka_unit_test(a_new_baseline_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
