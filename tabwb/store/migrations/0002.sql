-- Judgements: the replies of judges that use a model, call by call.
CREATE TABLE judgements (
	id INTEGER NOT NULL,
	attempt_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	set_id INTEGER,
	repeat INTEGER NOT NULL,
	prompt_id INTEGER NOT NULL,
	raw_id INTEGER NOT NULL,
	first_raw_id INTEGER,
	repaired BOOLEAN NOT NULL,
	structured BOOLEAN NOT NULL,
	stop_reason VARCHAR NOT NULL,
	requests INTEGER NOT NULL,
	prompt_tokens INTEGER,
	reply_tokens INTEGER,
	latency_s DOUBLE NOT NULL,
	"key" BLOB NOT NULL,
	same_as INTEGER,
	verdict TEXT,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_judgements PRIMARY KEY (id),
	CONSTRAINT ck_judgements_verdict_once CHECK ((set_id IS NULL) = (verdict IS NOT NULL)),
	CONSTRAINT fk_judgements_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
	CONSTRAINT fk_judgements_rater_id FOREIGN KEY(rater_id) REFERENCES raters (id),
	CONSTRAINT fk_judgements_set_id FOREIGN KEY(set_id) REFERENCES rating_sets (id),
	CONSTRAINT fk_judgements_prompt_id FOREIGN KEY(prompt_id) REFERENCES texts (id),
	CONSTRAINT fk_judgements_raw_id FOREIGN KEY(raw_id) REFERENCES texts (id),
	CONSTRAINT fk_judgements_first_raw_id FOREIGN KEY(first_raw_id) REFERENCES texts (id),
	CONSTRAINT fk_judgements_same_as FOREIGN KEY(same_as) REFERENCES judgements (id)
);
CREATE INDEX ix_judgements_attempt_id ON judgements (attempt_id);
CREATE INDEX ix_judgements_key ON judgements ("key");
