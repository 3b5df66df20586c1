BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
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
INSERT INTO "documents" VALUES('c186a5354a77d4681f609e167d0b14512be39df78f0af787c4978a318ff871fb','{"name":"asks","nodes":[{"id":"start","type":"START"},{"id":"first","type":"TEMPLATE","config":{"template":"first"}},{"id":"ask","type":"HUMAN","config":{"title":"Go on?","timeout":"30000d"}},{"id":"done","type":"END","config":{"outputs":{"first":"{{ first.text }}","action":"{{ ask.action }}"}}}],"edges":[{"from":"start","to":"first"},{"from":"first","to":"ask"},{"from":"ask","handle":"approve","to":"done"},{"from":"ask","handle":"reject","to":"done"},{"from":"ask","handle":"timeout","to":"done"}]}',1.79608178904052019119e+09);
INSERT INTO "documents" VALUES('fdb5f2c3a581511c6a8718b1d8cb5b8e5d6d65cc217315ed973d6dceb3cac268','{"name":"pauses","nodes":[{"id":"start","type":"START"},{"id":"first","type":"TEMPLATE","config":{"template":"first"}},{"id":"later","type":"TEMPLATE","wait":{"for":3600.0},"config":{"template":"later"}},{"id":"done","type":"END","config":{"outputs":{"text":"{{ first.text }} {{ later.text }}"}}}],"edges":[{"from":"start","to":"first"},{"from":"first","to":"later"},{"from":"later","to":"done"}]}',1.79608178907330942155e+09);
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
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',1,1.79608178904052019119e+09,'run.queued','',0,'{}');
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',2,1.79608178904175448415e+09,'run.started','',0,'{"inputs":{}}');
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',3,1.79608178904188585281e+09,'node.started','start',1,'{}');
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',4,1.79608178904192233088e+09,'node.succeeded','start',1,'{"outputs":{"trigger":{"kind":"manual"}},"handles":["out"],"elapsed_ms":0.025}');
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',5,1.79608178904220056534e+09,'node.started','first',1,'{}');
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',6,1.79608178904224705693e+09,'node.succeeded','first',1,'{"outputs":{"text":"first"},"handles":["out"],"elapsed_ms":0.037}');
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',7,1.79608178904239773748e+09,'node.started','ask',1,'{"effects":"none"}');
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',8,1.79608178904262375833e+09,'node.suspended','ask',1,'{"id":"01a22ed12872c7936f8dc20ca81e2886","kind":"human","phase":"node","until":4388081789.042496,"request":{"title":"Go on?","message":null,"actions":["approve","reject"]},"hash":"46105c0a1320d4b4b138d6899a24b0cf8c601bf2de7a5a0cc0ef666f8db8396f","state":{},"rules":{"assignees":[],"quorum":1,"allow_self":true,"reminders":[],"escalation":[],"channels":[]},"starter":null,"at":1796081789.0426197}');
INSERT INTO "events" VALUES('01a22ed1-2870-7959-964b-5572eb78476d',9,1.79608178905692625042e+09,'run.suspended','',0,'{"waiting":["01a22ed12872c7936f8dc20ca81e2886"]}');
INSERT INTO "events" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788',1,1.79608178907330942155e+09,'run.queued','',0,'{}');
INSERT INTO "events" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788',2,1.79608178908766651146e+09,'run.started','',0,'{"inputs":{}}');
INSERT INTO "events" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788',3,1.79608178908779978748e+09,'node.started','start',1,'{}');
INSERT INTO "events" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788',4,1.79608178908784699438e+09,'node.succeeded','start',1,'{"outputs":{"trigger":{"kind":"manual"}},"handles":["out"],"elapsed_ms":0.035}');
INSERT INTO "events" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788',5,1.79608178909604954717e+09,'node.started','first',1,'{}');
INSERT INTO "events" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788',6,1.79608178909615063666e+09,'node.succeeded','first',1,'{"outputs":{"text":"first"},"handles":["out"],"elapsed_ms":0.053}');
INSERT INTO "events" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788',7,1.79608178909650564197e+09,'node.suspended','later',0,'{"id":"01a22ed128a8accad001f1c6ba89219d","kind":"timer","phase":"pause","until":1796085389.09637,"request":{},"hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","state":{},"rules":{"assignees":[],"quorum":1,"allow_self":true,"reminders":[],"escalation":[],"channels":[]},"starter":null,"at":1796081789.0965016}');
INSERT INTO "events" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788',8,1.79608178909674549104e+09,'run.suspended','',0,'{"waiting":["01a22ed128a8accad001f1c6ba89219d"]}');
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
INSERT INTO "runs" VALUES('01a22ed1-2870-7959-964b-5572eb78476d','local','suspended',NULL,1,NULL,0,'',NULL,NULL,NULL,'asks','c186a5354a77d4681f609e167d0b14512be39df78f0af787c4978a318ff871fb','dev',NULL,NULL,NULL,0,4,1.79608178904052019119e+09,1.79608178904175448415e+09,NULL,NULL,'[]','{"kind":"manual"}','{}',NULL,NULL);
INSERT INTO "runs" VALUES('01a22ed1-2891-75a2-81a7-c90ff8e10788','local','suspended',NULL,1,NULL,0,'',NULL,NULL,NULL,'pauses','fdb5f2c3a581511c6a8718b1d8cb5b8e5d6d65cc217315ed973d6dceb3cac268','dev',NULL,NULL,NULL,0,4,1.79608178907330942155e+09,1.79608178908766651146e+09,NULL,NULL,'[]','{"kind":"manual"}','{}',NULL,NULL);
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
CREATE TABLE waits (
	id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	path TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	phase TEXT NOT NULL, 
	status TEXT NOT NULL, 
	consumed BOOLEAN DEFAULT 0 NOT NULL, 
	version INTEGER DEFAULT '0' NOT NULL, 
	until DOUBLE, 
	next_at DOUBLE, 
	created_at DOUBLE NOT NULL, 
	ref TEXT, 
	token_hash TEXT, 
	quorum INTEGER DEFAULT '1' NOT NULL, 
	allow_self BOOLEAN DEFAULT 1 NOT NULL, 
	starter TEXT, 
	reminded INTEGER DEFAULT '0' NOT NULL, 
	action TEXT, 
	answered_by TEXT, 
	answered_at DOUBLE, 
	comment TEXT, 
	hash TEXT DEFAULT '' NOT NULL, 
	title TEXT DEFAULT '' NOT NULL, 
	assignees TEXT DEFAULT '[]' NOT NULL, 
	schedule TEXT DEFAULT '[]' NOT NULL, 
	channels TEXT DEFAULT '[]' NOT NULL, 
	answers TEXT DEFAULT '[]' NOT NULL, 
	form TEXT DEFAULT '{}' NOT NULL, 
	request TEXT DEFAULT '{}' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "waits" VALUES('01a22ed12872c7936f8dc20ca81e2886','01a22ed1-2870-7959-964b-5572eb78476d','ask','local','human','node','pending',0,0,4.38808178904249572734e+09,4.38808178904249572734e+09,1.79608178904261970524e+09,NULL,NULL,1,1,NULL,0,NULL,NULL,NULL,NULL,'46105c0a1320d4b4b138d6899a24b0cf8c601bf2de7a5a0cc0ef666f8db8396f','Go on?','[]','[]','[]','[]','{}','{"title":"Go on?","message":null,"actions":["approve","reject"]}');
INSERT INTO "waits" VALUES('01a22ed128a8accad001f1c6ba89219d','01a22ed1-2891-75a2-81a7-c90ff8e10788','later','local','timer','pause','pending',0,0,1796085389.09637,1796085389.09637,1.79608178909650158879e+09,NULL,NULL,1,1,NULL,0,NULL,NULL,NULL,NULL,'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','','[]','[]','[]','[]','{}','{}');
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
CREATE INDEX waits_run ON waits (run_id);
CREATE INDEX waits_owner ON waits (owner, status, id);
CREATE INDEX waits_due ON waits (next_at) WHERE status = 'pending';
CREATE INDEX waits_answered ON waits (id) WHERE status <> 'pending' AND NOT consumed;
CREATE INDEX waits_ref ON waits (ref) WHERE ref IS NOT NULL;
CREATE INDEX waits_token ON waits (token_hash) WHERE token_hash IS NOT NULL;
COMMIT;
