-- Rating sets of people: samples, who rates which, what each said, what was settled.
CREATE TABLE sample_sets (
	id INTEGER NOT NULL,
	uid VARCHAR(36) NOT NULL,
	name VARCHAR NOT NULL,
	form_id VARCHAR NOT NULL,
	form_text_id INTEGER NOT NULL,
	guidelines_id INTEGER,
	presentation TEXT NOT NULL,
	raters TEXT NOT NULL,
	seed BIGINT NOT NULL,
	ask_source BOOLEAN NOT NULL,
	counts VARCHAR NOT NULL,
	created_at VARCHAR NOT NULL,
	CONSTRAINT pk_sample_sets PRIMARY KEY (id),
	CONSTRAINT uq_sample_sets_uid UNIQUE (uid),
	CONSTRAINT uq_sample_sets_name UNIQUE (name),
	CONSTRAINT fk_sample_sets_form_text_id FOREIGN KEY(form_text_id) REFERENCES texts (id),
	CONSTRAINT fk_sample_sets_guidelines_id FOREIGN KEY(guidelines_id) REFERENCES texts (id)
);
CREATE TABLE samples (
	set_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	attempt_id INTEGER NOT NULL,
	text TEXT NOT NULL,
	prompt_id INTEGER NOT NULL,
	context_before TEXT NOT NULL,
	context_after TEXT NOT NULL,
	stratum VARCHAR NOT NULL,
	weight DOUBLE NOT NULL,
	audio_sha256 VARCHAR(64),
	audio_start_s DOUBLE,
	audio_end_s DOUBLE,
	picture VARCHAR,
	target VARCHAR NOT NULL,
	consensus TEXT,
	CONSTRAINT pk_samples PRIMARY KEY (set_id, number),
	CONSTRAINT uq_samples_set_id_attempt_id UNIQUE (set_id, attempt_id),
	CONSTRAINT fk_samples_set_id FOREIGN KEY(set_id) REFERENCES sample_sets (id),
	CONSTRAINT fk_samples_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
	CONSTRAINT fk_samples_prompt_id FOREIGN KEY(prompt_id) REFERENCES texts (id),
	CONSTRAINT fk_samples_audio_sha256 FOREIGN KEY(audio_sha256) REFERENCES assets (sha256)
) WITHOUT ROWID;
CREATE INDEX ix_samples_attempt_id ON samples (attempt_id);
CREATE TABLE assignments (
	set_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	sample INTEGER NOT NULL,
	purpose VARCHAR NOT NULL,
	CONSTRAINT pk_assignments PRIMARY KEY (set_id, rater_id, position),
	CONSTRAINT fk_assignments_set_id_sample FOREIGN KEY(set_id, sample) REFERENCES samples (set_id, number),
	CONSTRAINT fk_assignments_rater_id FOREIGN KEY(rater_id) REFERENCES raters (id)
) WITHOUT ROWID;
CREATE INDEX ix_assignments_set_id_sample ON assignments (set_id, sample);
CREATE TABLE sample_ratings (
	id INTEGER NOT NULL,
	set_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	replaces INTEGER,
	state VARCHAR NOT NULL,
	answers TEXT NOT NULL,
	confidence SMALLINT,
	note TEXT NOT NULL,
	seconds DOUBLE NOT NULL,
	rating_set_id INTEGER,
	started_at VARCHAR NOT NULL,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_sample_ratings PRIMARY KEY (id),
	CONSTRAINT ck_sample_ratings_known_state CHECK (state IN ('draft', 'complete', 'taken-back')),
	CONSTRAINT fk_sample_ratings_set_id_rater_id_position FOREIGN KEY(set_id, rater_id, position) REFERENCES assignments (set_id, rater_id, position),
	CONSTRAINT uq_sample_ratings_replaces UNIQUE (replaces),
	CONSTRAINT fk_sample_ratings_replaces FOREIGN KEY(replaces) REFERENCES sample_ratings (id),
	CONSTRAINT fk_sample_ratings_rating_set_id FOREIGN KEY(rating_set_id) REFERENCES rating_sets (id)
);
CREATE UNIQUE INDEX ix_sample_ratings_first ON sample_ratings (set_id, rater_id, position) WHERE replaces IS NULL;
CREATE INDEX ix_sample_ratings_set_id_rater_id_position ON sample_ratings (set_id, rater_id, position);
CREATE TABLE adjudications (
	id INTEGER NOT NULL,
	set_id INTEGER NOT NULL,
	sample INTEGER NOT NULL,
	measure VARCHAR NOT NULL,
	answer TEXT NOT NULL,
	reason TEXT NOT NULL,
	who VARCHAR NOT NULL,
	replaces INTEGER,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_adjudications PRIMARY KEY (id),
	CONSTRAINT fk_adjudications_set_id_sample FOREIGN KEY(set_id, sample) REFERENCES samples (set_id, number),
	CONSTRAINT uq_adjudications_replaces UNIQUE (replaces),
	CONSTRAINT fk_adjudications_replaces FOREIGN KEY(replaces) REFERENCES adjudications (id)
);
CREATE INDEX ix_adjudications_set_id_sample ON adjudications (set_id, sample);
CREATE TABLE set_events (
	id INTEGER NOT NULL,
	set_id INTEGER NOT NULL,
	kind VARCHAR NOT NULL,
	text TEXT NOT NULL,
	who VARCHAR NOT NULL,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_set_events PRIMARY KEY (id),
	CONSTRAINT fk_set_events_set_id FOREIGN KEY(set_id) REFERENCES sample_sets (id)
);
CREATE INDEX ix_set_events_set_id ON set_events (set_id);
CREATE TABLE rater_links (
	id INTEGER NOT NULL,
	set_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	token_sha256 BLOB,
	revokes INTEGER,
	who VARCHAR NOT NULL,
	recorded_at VARCHAR NOT NULL,
	expires_at VARCHAR NOT NULL,
	CONSTRAINT pk_rater_links PRIMARY KEY (id),
	CONSTRAINT ck_rater_links_link_or_end CHECK ((token_sha256 IS NULL) = (revokes IS NOT NULL)),
	CONSTRAINT fk_rater_links_set_id FOREIGN KEY(set_id) REFERENCES sample_sets (id),
	CONSTRAINT fk_rater_links_rater_id FOREIGN KEY(rater_id) REFERENCES raters (id),
	CONSTRAINT uq_rater_links_token_sha256 UNIQUE (token_sha256),
	CONSTRAINT uq_rater_links_revokes UNIQUE (revokes),
	CONSTRAINT fk_rater_links_revokes FOREIGN KEY(revokes) REFERENCES rater_links (id)
);
CREATE INDEX ix_rater_links_set_id ON rater_links (set_id);
