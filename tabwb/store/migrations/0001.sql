-- The first tables. A migration never changes; the tables as they are now are in schema.sql.
CREATE TABLE assets (
	sha256 VARCHAR(64) NOT NULL,
	size INTEGER NOT NULL,
	content BLOB,
	CONSTRAINT pk_assets PRIMARY KEY (sha256)
) WITHOUT ROWID;
CREATE TABLE measures (
	id INTEGER NOT NULL,
	name VARCHAR NOT NULL,
	CONSTRAINT pk_measures PRIMARY KEY (id),
	CONSTRAINT uq_measures_name UNIQUE (name)
);
CREATE TABLE raters (
	id INTEGER NOT NULL,
	spec VARCHAR NOT NULL,
	CONSTRAINT pk_raters PRIMARY KEY (id),
	CONSTRAINT uq_raters_spec UNIQUE (spec)
);
CREATE TABLE rating_statuses (
	id SMALLINT NOT NULL,
	name VARCHAR NOT NULL,
	CONSTRAINT pk_rating_statuses PRIMARY KEY (id),
	CONSTRAINT uq_rating_statuses_name UNIQUE (name)
);
CREATE TABLE reasons (
	id INTEGER NOT NULL,
	sha256 BLOB NOT NULL,
	text TEXT NOT NULL,
	CONSTRAINT pk_reasons PRIMARY KEY (id),
	CONSTRAINT uq_reasons_sha256 UNIQUE (sha256)
);
CREATE TABLE texts (
	id INTEGER NOT NULL,
	sha256 BLOB NOT NULL,
	text TEXT NOT NULL,
	CONSTRAINT pk_texts PRIMARY KEY (id),
	CONSTRAINT uq_texts_sha256 UNIQUE (sha256)
);
CREATE TABLE batteries (
	id INTEGER NOT NULL,
	battery VARCHAR NOT NULL,
	version VARCHAR NOT NULL,
	content_hash VARCHAR(64) NOT NULL,
	title VARCHAR NOT NULL,
	canonical_id INTEGER NOT NULL,
	kept_at VARCHAR NOT NULL,
	CONSTRAINT pk_batteries PRIMARY KEY (id),
	CONSTRAINT uq_batteries_battery_version UNIQUE (battery, version),
	CONSTRAINT uq_batteries_content_hash UNIQUE (content_hash),
	CONSTRAINT fk_batteries_canonical_id FOREIGN KEY(canonical_id) REFERENCES texts (id)
);
CREATE TABLE administrations (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	uid VARCHAR(36) NOT NULL,
	battery_id INTEGER NOT NULL,
	examinee VARCHAR NOT NULL,
	kind VARCHAR NOT NULL,
	seed BIGINT NOT NULL,
	protocol VARCHAR NOT NULL,
	lesion VARCHAR,
	research_protocol VARCHAR,
	conditions TEXT NOT NULL,
	versions TEXT NOT NULL,
	created_at VARCHAR NOT NULL,
	CONSTRAINT uq_administrations_uid UNIQUE (uid),
	CONSTRAINT fk_administrations_battery_id FOREIGN KEY(battery_id) REFERENCES batteries (id)
);
CREATE TABLE battery_assets (
	battery_id INTEGER NOT NULL,
	path VARCHAR NOT NULL,
	sha256 VARCHAR(64) NOT NULL,
	CONSTRAINT pk_battery_assets PRIMARY KEY (battery_id, path),
	CONSTRAINT fk_battery_assets_battery_id FOREIGN KEY(battery_id) REFERENCES batteries (id),
	CONSTRAINT fk_battery_assets_sha256 FOREIGN KEY(sha256) REFERENCES assets (sha256)
) WITHOUT ROWID;
CREATE TABLE trials (
	administration_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	subtest VARCHAR NOT NULL,
	item VARCHAR NOT NULL,
	replicate INTEGER NOT NULL,
	options TEXT NOT NULL,
	prompt_id INTEGER NOT NULL,
	practice BOOLEAN NOT NULL,
	CONSTRAINT pk_trials PRIMARY KEY (administration_id, number),
	CONSTRAINT fk_trials_administration_id FOREIGN KEY(administration_id) REFERENCES administrations (id),
	CONSTRAINT fk_trials_prompt_id FOREIGN KEY(prompt_id) REFERENCES texts (id)
) WITHOUT ROWID;
CREATE INDEX ix_trials_practice ON trials (administration_id, number) WHERE practice;
CREATE TABLE entries (
	administration_id INTEGER NOT NULL,
	sequence INTEGER NOT NULL,
	kind VARCHAR NOT NULL,
	trial INTEGER,
	text TEXT NOT NULL,
	undoes INTEGER,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_entries PRIMARY KEY (administration_id, sequence),
	CONSTRAINT fk_entries_administration_id_trial FOREIGN KEY(administration_id, trial) REFERENCES trials (administration_id, number),
	CONSTRAINT fk_entries_administration_id_undoes FOREIGN KEY(administration_id, undoes) REFERENCES entries (administration_id, sequence),
	CONSTRAINT ck_entries_undoes_earlier CHECK (undoes IS NULL OR undoes < sequence),
	CONSTRAINT fk_entries_administration_id FOREIGN KEY(administration_id) REFERENCES administrations (id)
) WITHOUT ROWID;
CREATE TABLE attempts (
	id INTEGER NOT NULL,
	administration_id INTEGER NOT NULL,
	trial INTEGER NOT NULL,
	number INTEGER NOT NULL,
	sequence INTEGER NOT NULL,
	response TEXT NOT NULL,
	status VARCHAR,
	stop_reason VARCHAR NOT NULL,
	latency_s DOUBLE,
	error TEXT NOT NULL,
	metadata TEXT NOT NULL,
	CONSTRAINT pk_attempts PRIMARY KEY (id),
	CONSTRAINT uq_attempts_administration_id_trial_number UNIQUE (administration_id, trial, number),
	CONSTRAINT fk_attempts_administration_id_sequence FOREIGN KEY(administration_id, sequence) REFERENCES entries (administration_id, sequence)
);
CREATE TABLE messages (
	attempt_id INTEGER NOT NULL,
	position SMALLINT NOT NULL,
	role VARCHAR NOT NULL,
	text_id INTEGER NOT NULL,
	CONSTRAINT pk_messages PRIMARY KEY (attempt_id, position),
	CONSTRAINT fk_messages_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
	CONSTRAINT fk_messages_text_id FOREIGN KEY(text_id) REFERENCES texts (id)
) WITHOUT ROWID;
CREATE TABLE rating_sets (
	id INTEGER NOT NULL,
	attempt_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	replaces INTEGER,
	recorded_at VARCHAR,
	CONSTRAINT pk_rating_sets PRIMARY KEY (id),
	CONSTRAINT fk_rating_sets_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
	CONSTRAINT fk_rating_sets_rater_id FOREIGN KEY(rater_id) REFERENCES raters (id),
	CONSTRAINT fk_rating_sets_replaces FOREIGN KEY(replaces) REFERENCES rating_sets (id)
);
CREATE INDEX ix_rating_sets_attempt_id ON rating_sets (attempt_id);
CREATE TABLE ratings (
	set_id INTEGER NOT NULL,
	measure_id INTEGER NOT NULL,
	value DOUBLE,
	status_id SMALLINT NOT NULL,
	reason_id INTEGER,
	CONSTRAINT pk_ratings PRIMARY KEY (set_id, measure_id),
	CONSTRAINT ck_ratings_value_has_status CHECK ((status_id = 0) = (value IS NOT NULL)),
	CONSTRAINT fk_ratings_set_id FOREIGN KEY(set_id) REFERENCES rating_sets (id),
	CONSTRAINT fk_ratings_measure_id FOREIGN KEY(measure_id) REFERENCES measures (id),
	CONSTRAINT fk_ratings_status_id FOREIGN KEY(status_id) REFERENCES rating_statuses (id),
	CONSTRAINT fk_ratings_reason_id FOREIGN KEY(reason_id) REFERENCES reasons (id)
) WITHOUT ROWID;
INSERT INTO rating_statuses (id, name)
VALUES (0, 'value'), (1, 'undefined'), (2, 'unparsed'), (3, 'error');
