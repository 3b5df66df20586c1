BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE api_keys (
	id TEXT NOT NULL, 
	owner TEXT DEFAULT 'local' NOT NULL, 
	name TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	scopes TEXT DEFAULT '["*"]' NOT NULL, 
	created_at DOUBLE NOT NULL, 
	expires_at DOUBLE, 
	last_used_at DOUBLE, 
	revoked_at DOUBLE, 
	PRIMARY KEY (id), 
	CONSTRAINT api_keys_prefix UNIQUE (prefix)
);
CREATE TABLE documents (
	hash TEXT NOT NULL, 
	text TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "documents" VALUES('48943272ff05d40aa4fc69c2def60d2b0cad14c45a973250745520520b74cd1b','{"name":"interrupted","nodes":[{"id":"start","type":"START"},{"id":"first","type":"TEMPLATE","config":{"template":"first"}},{"id":"later","type":"TEMPLATE","wait":{"for":1.9},"config":{"template":"later"}},{"id":"done","type":"END","config":{"outputs":{"text":"{{ first.text }} {{ later.text }}"}}}],"edges":[{"from":"start","to":"first"},{"from":"first","to":"later"},{"from":"later","to":"done"}]}',1.79608178978920888903e+09);
CREATE TABLE events (
	run_id TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	type TEXT NOT NULL, 
	path TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	data TEXT NOT NULL, 
	PRIMARY KEY (run_id, seq)
)
 WITHOUT ROWID

;
INSERT INTO "events" VALUES('01a22ed1-2b5d-73b4-8870-25c2579fdd08',1,1.79608178978920888903e+09,'run.queued','',0,'{}');
INSERT INTO "events" VALUES('01a22ed1-2b5d-73b4-8870-25c2579fdd08',2,1.7960817898034045696e+09,'run.started','',0,'{"inputs":{}}');
INSERT INTO "events" VALUES('01a22ed1-2b5d-73b4-8870-25c2579fdd08',3,1.79608178980354166037e+09,'node.started','start',1,'{}');
INSERT INTO "events" VALUES('01a22ed1-2b5d-73b4-8870-25c2579fdd08',4,1.7960817898035809993e+09,'node.succeeded','start',1,'{"outputs":{"trigger":{"kind":"manual"}},"handles":["out"],"elapsed_ms":0.028}');
INSERT INTO "events" VALUES('01a22ed1-2b5d-73b4-8870-25c2579fdd08',5,1.7960817898040807247e+09,'node.started','first',1,'{}');
INSERT INTO "events" VALUES('01a22ed1-2b5d-73b4-8870-25c2579fdd08',6,1.79608178980412745481e+09,'node.succeeded','first',1,'{"outputs":{"text":"first"},"handles":["out"],"elapsed_ms":0.036}');
INSERT INTO "events" VALUES('01a22ed1-2b5d-73b4-8870-25c2579fdd08',7,1.79608178980430173874e+09,'node.suspended','later',0,'{"kind":"timer","phase":"pause","until":1796081791.7042997}');
CREATE TABLE files (
	id TEXT NOT NULL, 
	ref TEXT NOT NULL, 
	name TEXT NOT NULL, 
	media_type TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	owner TEXT DEFAULT 'local' NOT NULL, 
	run_id TEXT, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE meta (
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('callback_key','"0000000000000000000000000000000000000000000000000000000000000000"');
CREATE TABLE payloads (
	ref TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (ref)
);
CREATE TABLE run_payloads (
	run_id TEXT NOT NULL, 
	ref TEXT NOT NULL, 
	PRIMARY KEY (run_id, ref)
)
 WITHOUT ROWID

;
CREATE TABLE runs (
	id TEXT NOT NULL, 
	owner TEXT DEFAULT 'local' NOT NULL, 
	status TEXT NOT NULL, 
	lease_owner TEXT, 
	lease_epoch INTEGER DEFAULT '0' NOT NULL, 
	lease_until DOUBLE, 
	cancel_requested BOOLEAN DEFAULT 0 NOT NULL, 
	mirror_state TEXT DEFAULT '' NOT NULL, 
	flow_run_id TEXT, 
	workflow_id TEXT, 
	version INTEGER, 
	name TEXT NOT NULL, 
	document_hash TEXT NOT NULL, 
	environment TEXT NOT NULL, 
	idempotency_key TEXT, 
	parent_run_id TEXT, 
	parent_path TEXT, 
	depth INTEGER DEFAULT '0' NOT NULL, 
	node_count INTEGER DEFAULT '0' NOT NULL, 
	created_at DOUBLE NOT NULL, 
	started_at DOUBLE, 
	finished_at DOUBLE, 
	scheduled_for DOUBLE, 
	tags TEXT DEFAULT '[]' NOT NULL, 
	"trigger" TEXT DEFAULT '{}' NOT NULL, 
	inputs TEXT DEFAULT '{}' NOT NULL, 
	outputs TEXT, 
	error TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('01a22ed1-2b5d-73b4-8870-25c2579fdd08','local','running','elsewhere:1:::old',1,1.79608178987600517273e+09,0,'',NULL,NULL,NULL,'interrupted','48943272ff05d40aa4fc69c2def60d2b0cad14c45a973250745520520b74cd1b','dev',NULL,NULL,NULL,0,4,1.79608178978920888903e+09,1.7960817898034045696e+09,NULL,NULL,'[]','{"kind":"manual"}','{}',NULL,NULL);
CREATE TABLE variables (
	workflow_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	PRIMARY KEY (workflow_id, name)
);
CREATE TABLE versions (
	workflow_id TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	document_hash TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (workflow_id, number)
);
CREATE TABLE workflows (
	id TEXT NOT NULL, 
	owner TEXT DEFAULT 'local' NOT NULL, 
	name TEXT NOT NULL, 
	published_version INTEGER, 
	created_at DOUBLE NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	deleted_at DOUBLE, 
	PRIMARY KEY (id)
);
CREATE INDEX files_ref ON files (ref);
CREATE INDEX files_run ON files (run_id);
CREATE INDEX run_payloads_ref ON run_payloads (ref);
CREATE INDEX runs_flow_run ON runs (flow_run_id) WHERE flow_run_id IS NOT NULL;
CREATE UNIQUE INDEX runs_idempotency ON runs (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_lease ON runs (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX runs_mirror ON runs (id) WHERE mirror_state <> status;
CREATE INDEX runs_parent ON runs (parent_run_id, parent_path) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_status ON runs (status, id);
CREATE INDEX runs_workflow ON runs (workflow_id, id);
CREATE INDEX versions_document ON versions (document_hash);
CREATE UNIQUE INDEX workflows_name ON workflows (owner, name) WHERE deleted_at IS NULL;
COMMIT;
