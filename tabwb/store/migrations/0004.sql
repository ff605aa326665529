-- Speakers are people: their records, consents and recordings, who did what, who was deleted.
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
CREATE TABLE speakers (
	id INTEGER NOT NULL,
	speaker VARCHAR NOT NULL,
	record TEXT NOT NULL,
	who VARCHAR NOT NULL,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_speakers PRIMARY KEY (id)
);
CREATE INDEX ix_speakers_speaker ON speakers (speaker);
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
