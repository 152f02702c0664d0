// SPDX-License-Identifier: GPL-2.0-only
/* show.c - from records to output, by interval or at the end, live or from a capture. */
#include <errno.h>

#include "log.h"
#include "replay.h"
#include "show.h"

bool show_wants_document(const struct show *s)
{
	return s->common->json || s->common->ndjson;
}

int show_code(int err)
{
	return err && err != -EPIPE ? EXIT_FAILED : EXIT_DONE;
}

static int piece(struct show *s, bool interval, const char *error)
{
	FILE *out = output_begin(&s->out);
	int err, written;

	if (!out)
		return s->out.err;
	if (show_wants_document(s))
		err = s->document(s, out, interval, error);
	else
		err = s->text(s, out, interval);
	written = output_end(&s->out);
	s->shown++;
	return err ? err : written;
}

static int on_interval(void *ctx, const struct model *m)
{
	struct show *s = ctx;
	int err = s->by_interval ? piece(s, true, NULL) : 0;

	s->before = m->self;
	return err;
}

void show_init(struct show *s)
{
	output_init(&s->out);
	model_init(&s->model);
	s->model.on_interval = on_interval;
	s->model.ctx = s;
}

void show_free(struct show *s)
{
	model_free(&s->model);
}

int show_record(void *show, const struct kd_rec *rec)
{
	struct show *s = show;
	bool started = s->model.started;
	int err = model_record(&s->model, rec);

	if (!started) /* the first interval begins with what we had cost until then */
		s->before = s->model.self;
	return err;
}

int show_finish(struct show *s, const char *error)
{
	if (s->by_interval && (s->common->ndjson ? !error : s->shown))
		return 0;
	return piece(s, false, error);
}

int show_capture(struct show *s, const struct scope *sc, void (*more)(const struct show *s))
{
	int err = replay(s->common, show_record, s);

	if (s->out.err)
		return show_code(s->out.err);
	if (err)
		return common_fail(&s->out, s->command, show_wants_document(s), EXIT_FAILED);
	if (scope_measured(&s->model, sc)) {
		if (!s->model.ticks)
			log_warn("%s: holds no whole interval", s->common->input);
		if (more)
			more(s);
		return show_code(show_finish(s, NULL));
	}
	log_err(-ENODEV, "%s: nothing that was asked for was measured there", s->common->input);
	show_finish(s, log_last_error());
	return EXIT_NOTHING;
}

int show_live(struct show *s, const struct session_conf *conf, struct stream *stream,
	      struct session **session, struct watch *w,
	      void (*ready)(const struct show *s, struct watch *w))
{
	int err = session_open(session, conf, stream);

	if (!err) {
		watch_started();
		if (ready)
			ready(s, w);
		err = watch_run(*session, w);
	}
	if (s->out.err) /* what ended the watch: there is nobody to show more to */
		return s->out.err;
	/* A document says how long detaching took; a person does not wait for it. */
	if (!err && show_wants_document(s) && !s->by_interval)
		err = session_detach(*session);
	if (!err)
		return show_finish(s, NULL);
	/* Text has nothing to say of what did not begin, but for why nothing can be measured. */
	if (show_wants_document(s) || s->model.started || err == -ENODEV)
		show_finish(s, log_last_error());
	return err;
}
