CREATE TABLE collections (
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    envelope {blob} NOT NULL,
    retired INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (id, version)
);
CREATE TABLE closed_rounds (
    collection TEXT NOT NULL,
    round {int64} NOT NULL,
    PRIMARY KEY (collection, round)
);
CREATE TABLE chunks (
    number {serial},
    collection TEXT NOT NULL,
    version INTEGER NOT NULL,
    question TEXT NOT NULL,
    round {int64} NOT NULL,
    n {int64} NOT NULL,
    reports {blob} NOT NULL,
    ids {blob} NOT NULL,
    checksum {blob} NOT NULL
);
CREATE INDEX chunks_of ON chunks (collection, question, round, version);
CREATE TABLE tallies (
    collection TEXT NOT NULL,
    version INTEGER NOT NULL,
    question TEXT NOT NULL,
    round {int64} NOT NULL,
    n {int64} NOT NULL,
    counts {blob} NOT NULL,
    checksum {blob} NOT NULL,
    PRIMARY KEY (collection, version, question, round)
);
CREATE TABLE tokens (
    digest {blob} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL
);
CREATE TABLE audit (
    number {serial},
    day TEXT NOT NULL,
    what TEXT NOT NULL
);
