-- The tables of a store. On a server: types and numbers of rows as tabwb/store/schema.py says.
CREATE TABLE access_log (
	id INTEGER NOT NULL,
	at VARCHAR NOT NULL,
	who VARCHAR NOT NULL,
	act VARCHAR NOT NULL,
	speaker VARCHAR NOT NULL,
	administration INTEGER,
	detail TEXT NOT NULL,
	CONSTRAINT pk_access_log PRIMARY KEY (id)
);
CREATE INDEX ix_access_log_speaker ON access_log (speaker);
CREATE TABLE assets (
	sha256 VARCHAR(64) NOT NULL,
	size INTEGER NOT NULL,
	content BLOB,
	CONSTRAINT pk_assets PRIMARY KEY (sha256)
) WITHOUT ROWID;
CREATE TABLE consents (
	id INTEGER NOT NULL,
	speaker VARCHAR NOT NULL,
	scope VARCHAR NOT NULL,
	given BOOLEAN NOT NULL,
	day VARCHAR NOT NULL,
	document VARCHAR NOT NULL,
	note TEXT NOT NULL,
	who VARCHAR NOT NULL,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_consents PRIMARY KEY (id)
);
CREATE INDEX ix_consents_speaker ON consents (speaker);
CREATE TABLE items (
	id INTEGER NOT NULL,
	subtest VARCHAR NOT NULL,
	item VARCHAR NOT NULL,
	CONSTRAINT pk_items PRIMARY KEY (id),
	CONSTRAINT uq_items_subtest_item UNIQUE (subtest, item)
);
CREATE TABLE raters (
	id INTEGER NOT NULL,
	spec VARCHAR NOT NULL,
	CONSTRAINT pk_raters PRIMARY KEY (id),
	CONSTRAINT uq_raters_spec UNIQUE (spec)
);
CREATE TABLE speakers (
	id INTEGER NOT NULL,
	speaker VARCHAR NOT NULL,
	record TEXT NOT NULL,
	who VARCHAR NOT NULL,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_speakers PRIMARY KEY (id)
);
CREATE INDEX ix_speakers_speaker ON speakers (speaker);
CREATE TABLE texts (
	id INTEGER NOT NULL,
	sha256 BLOB NOT NULL,
	text TEXT NOT NULL,
	CONSTRAINT pk_texts PRIMARY KEY (id),
	CONSTRAINT uq_texts_sha256 UNIQUE (sha256)
);
CREATE TABLE tombstones (
	id INTEGER NOT NULL,
	speaker VARCHAR NOT NULL,
	deleted_at VARCHAR NOT NULL,
	who VARCHAR NOT NULL,
	reason VARCHAR NOT NULL,
	counts TEXT NOT NULL,
	pending TEXT,
	CONSTRAINT pk_tombstones PRIMARY KEY (id)
);
CREATE INDEX ix_tombstones_speaker ON tombstones (speaker);
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
CREATE TABLE rater_declarations (
	id INTEGER NOT NULL,
	administration_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	kind VARCHAR NOT NULL,
	scope VARCHAR NOT NULL,
	features_id INTEGER NOT NULL,
	caution_id INTEGER NOT NULL,
	prompt_id INTEGER,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_rater_declarations PRIMARY KEY (id),
	CONSTRAINT fk_rater_declarations_administration_id FOREIGN KEY(administration_id) REFERENCES administrations (id),
	CONSTRAINT fk_rater_declarations_rater_id FOREIGN KEY(rater_id) REFERENCES raters (id),
	CONSTRAINT fk_rater_declarations_features_id FOREIGN KEY(features_id) REFERENCES texts (id),
	CONSTRAINT fk_rater_declarations_caution_id FOREIGN KEY(caution_id) REFERENCES texts (id),
	CONSTRAINT fk_rater_declarations_prompt_id FOREIGN KEY(prompt_id) REFERENCES texts (id)
);
CREATE INDEX ix_rater_declarations_administration_id ON rater_declarations (administration_id);
CREATE TABLE recordings (
	uid VARCHAR(36) NOT NULL,
	administration_id INTEGER NOT NULL,
	sha256 VARCHAR(64) NOT NULL,
	role VARCHAR NOT NULL,
	derived_from VARCHAR(36),
	seconds DOUBLE NOT NULL,
	rate INTEGER NOT NULL,
	channels SMALLINT NOT NULL,
	parameters TEXT NOT NULL,
	started_at VARCHAR NOT NULL,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_recordings PRIMARY KEY (uid),
	CONSTRAINT ck_recordings_derived_from_original CHECK ((role = 'original') = (derived_from IS NULL)),
	CONSTRAINT fk_recordings_administration_id FOREIGN KEY(administration_id) REFERENCES administrations (id),
	CONSTRAINT fk_recordings_sha256 FOREIGN KEY(sha256) REFERENCES assets (sha256),
	CONSTRAINT fk_recordings_derived_from FOREIGN KEY(derived_from) REFERENCES recordings (uid)
);
CREATE INDEX ix_recordings_administration_id ON recordings (administration_id);
CREATE INDEX ix_recordings_sha256 ON recordings (sha256);
CREATE TABLE trials (
	administration_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	replicate INTEGER NOT NULL,
	prompt_id INTEGER NOT NULL,
	practice BOOLEAN NOT NULL,
	item_id INTEGER NOT NULL DEFAULT 0 REFERENCES items (id),
	options_id INTEGER NOT NULL DEFAULT 0 REFERENCES texts (id),
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
	ok BOOLEAN NOT NULL DEFAULT FALSE,
	text BIGINT NOT NULL DEFAULT 0,
	spoken BIGINT NOT NULL DEFAULT 0,
	words INTEGER NOT NULL DEFAULT 0,
	blank BOOLEAN NOT NULL DEFAULT FALSE,
	thinks BOOLEAN NOT NULL DEFAULT FALSE,
	asked BIGINT NOT NULL DEFAULT 0,
	seed BIGINT,
	line BIGINT,
	notes_id INTEGER REFERENCES texts (id),
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
CREATE TABLE verdicts (
	id INTEGER NOT NULL,
	attempt_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	replaces INTEGER,
	recorded_at VARCHAR,
	measures_id INTEGER NOT NULL DEFAULT 0 REFERENCES texts (id),
	codes BLOB NOT NULL DEFAULT X'',
	numbers TEXT,
	reasons TEXT,
	CONSTRAINT pk_verdicts PRIMARY KEY (id),
	CONSTRAINT fk_verdicts_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
	CONSTRAINT fk_verdicts_rater_id FOREIGN KEY(rater_id) REFERENCES raters (id),
	CONSTRAINT fk_verdicts_replaces FOREIGN KEY(replaces) REFERENCES verdicts (id)
);
CREATE INDEX ix_verdicts_attempt_id ON verdicts (attempt_id);
CREATE TABLE judgements (
	id INTEGER NOT NULL,
	attempt_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	verdict_id INTEGER,
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
	CONSTRAINT ck_judgements_verdict_once CHECK ((verdict_id IS NULL) = (verdict IS NOT NULL)),
	CONSTRAINT fk_judgements_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
	CONSTRAINT fk_judgements_rater_id FOREIGN KEY(rater_id) REFERENCES raters (id),
	CONSTRAINT fk_judgements_verdict_id FOREIGN KEY(verdict_id) REFERENCES verdicts (id),
	CONSTRAINT fk_judgements_prompt_id FOREIGN KEY(prompt_id) REFERENCES texts (id),
	CONSTRAINT fk_judgements_raw_id FOREIGN KEY(raw_id) REFERENCES texts (id),
	CONSTRAINT fk_judgements_first_raw_id FOREIGN KEY(first_raw_id) REFERENCES texts (id),
	CONSTRAINT fk_judgements_same_as FOREIGN KEY(same_as) REFERENCES judgements (id)
);
CREATE INDEX ix_judgements_attempt_id ON judgements (attempt_id);
CREATE INDEX ix_judgements_key ON judgements ("key");
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
	verdict_id INTEGER,
	started_at VARCHAR NOT NULL,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_sample_ratings PRIMARY KEY (id),
	CONSTRAINT ck_sample_ratings_known_state CHECK (state IN ('draft', 'complete', 'taken-back')),
	CONSTRAINT fk_sample_ratings_set_id_rater_id_position FOREIGN KEY(set_id, rater_id, position) REFERENCES assignments (set_id, rater_id, position),
	CONSTRAINT uq_sample_ratings_replaces UNIQUE (replaces),
	CONSTRAINT fk_sample_ratings_replaces FOREIGN KEY(replaces) REFERENCES sample_ratings (id),
	CONSTRAINT fk_sample_ratings_verdict_id FOREIGN KEY(verdict_id) REFERENCES verdicts (id)
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
-- only postgresql
CREATE TABLE schema_version (
	version INTEGER NOT NULL
);
