// dgraph-js over gRPC and gRPC-Web, and dgraph-js-http, unmodified, against a server that runs.
// HEXGRAPH names the command.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { after, before, beforeEach, test } from 'node:test';

import grpc from '@grpc/grpc-js';

// These are CommonJS, and their names can't be seen from outside.
const require = createRequire(import.meta.url);
const dgraph = require('dgraph-js');
const messages = require('dgraph-js/generated/api_pb');
const { DgraphClient: HttpClient, DgraphClientStub: HttpStub } = require('dgraph-js-http');
// Pages know themselves by this name.
globalThis.self = globalThis;
const { grpc: web } = require('@improbable-eng/grpc-web');

const SCHEMA = `
  name: string @index(exact) .
  balance: int .
  email: string @index(exact) @upsert .
  knows: [uid] @reverse .
`;
const NAMES = '{ q(func: has(name), orderasc: name) { name } }';

// Where the server has users, the first of them asks.
const password = process.env.HEXGRAPH_PASSWORD;
const users = password ? ['--acl', `secret-file=${process.env.HEXGRAPH_SECRET_FILE}`] : [];

let server;
let url;
let address;
let stub;
let client;
let token;

before(async () => {
  server = spawn(process.env.HEXGRAPH ?? 'hexgraph', ['serve', '--port', '0', ...users]);
  [url, address] = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    server.stdout.on('data', (data) => {
      const found = /(http:\/\/\S+) and by gRPC at (\S+)/.exec(data);
      if (found) resolve(found.slice(1));
    });
  });
  stub = new dgraph.DgraphClientStub(address, grpc.credentials.createInsecure());
  client = new dgraph.DgraphClient(stub);
  if (password) {
    await stub.login('groot', password);
    const body = JSON.stringify({ userid: 'groot', password });
    const told = await (await fetch(`${url}/login`, { method: 'POST', body })).json();
    token = told.data.accessJWT;
  }
});

after(() => {
  stub?.close();
  server.removeAllListeners('exit');
  server.kill('SIGINT');
});

beforeEach(async () => {
  const everything = new dgraph.Operation();
  everything.setDropAll(true);
  await client.alter(everything);
  const operation = new dgraph.Operation();
  operation.setSchema(SCHEMA);
  await client.alter(operation);
});

/** A mutation that is committed at once, of N-Quads or of an object. */
const mutation = (set, { commit = true } = {}) => {
  const made = new dgraph.Mutation();
  if (typeof set === 'string') made.setSetNquads(set);
  else made.setSetJson(set);
  made.setCommitNow(commit);
  return made;
};

const ask = async (query) => (await client.newTxn({ readOnly: true }).query(query)).getJson();

test('objects are seen by others once they are committed', async () => {
  const txn = client.newTxn();
  const ann = { uid: '_:ann', name: 'Ann', knows: [{ uid: '_:bob', name: 'Bob' }] };
  const done = await txn.mutate(mutation(ann, { commit: false }));
  assert.match(done.getUidsMap().get('ann'), /^0x/);
  assert.deepEqual((await txn.query(NAMES)).getJson(), { q: [{ name: 'Ann' }, { name: 'Bob' }] });
  assert.deepEqual(await ask(NAMES), { q: [] });
  await txn.commit();
  assert.deepEqual(await ask('{ q(func: eq(name, "Bob")) { ~knows { name } } }'), { q: [{ '~knows': [{ name: 'Ann' }] }] });
  await assert.rejects(txn.commit(), dgraph.ERR_FINISHED);
});

test('triples, variables, best effort and RDF', async () => {
  const done = await client.newTxn().mutate(mutation('_:a <name> "Ann" .\n_:b <name> "Bob" .'));
  const query = 'query q($name: string) { q(func: eq(name, $name)) { name } }';
  const txn = client.newTxn({ readOnly: true, bestEffort: true });
  assert.deepEqual((await txn.queryWithVars(query, { $name: 'Bob' })).getJson(), { q: [{ name: 'Bob' }] });
  const told = await client.newTxn({ readOnly: true }).queryRDFWithVars(query, { $name: 'Ann' });
  const rdf = Buffer.from(told.getRdf_asU8()).toString();
  assert.equal(rdf, `<${done.getUidsMap().get('a')}> <name> "Ann" .\n`);
});

test('upserts make what is not there, once', async () => {
  const request = () => {
    const made = new dgraph.Request();
    made.setQuery('{ q(func: eq(email, "ann@example.org")) { v as uid } }');
    const set = mutation('_:n <email> "ann@example.org" .\n_:n <name> "Ann" .');
    set.setCond('@if(eq(len(v), 0))');
    made.setMutationsList([set]);
    made.setCommitNow(true);
    return made;
  };
  const first = await client.newTxn().doRequest(request());
  assert.equal(first.getUidsMap().getLength(), 1);
  const second = await client.newTxn().doRequest(request());
  assert.equal(second.getUidsMap().getLength(), 0);
  assert.deepEqual(await ask(NAMES), { q: [{ name: 'Ann' }] });
});

test('of two transactions that change one thing the second is aborted, and retried', async () => {
  const done = await client.newTxn().mutate(mutation('_:a <name> "Ann" .\n_:a <balance> "1" .'));
  const uid = done.getUidsMap().get('a');
  const [one, two] = [client.newTxn(), client.newTxn()];
  await one.mutate(mutation({ uid, balance: 2 }, { commit: false }));
  await two.mutate(mutation({ uid, balance: 3 }, { commit: false }));
  await one.commit();
  await assert.rejects(two.commit(), dgraph.ERR_ABORTED);
  await client.newTxn().mutate(mutation({ uid, balance: 3 }));
  assert.deepEqual(await ask(`{ q(func: uid(${uid})) { balance } }`), { q: [{ balance: 3 }] });
  const discarded = client.newTxn();
  await discarded.mutate(mutation({ uid, balance: 9 }, { commit: false }));
  await discarded.discard();
  assert.deepEqual(await ask(`{ q(func: uid(${uid})) { balance } }`), { q: [{ balance: 3 }] });
});

test('what is wrong is told with its code', async () => {
  const wrong = client.newTxn({ readOnly: true }).query('{ q(func: ');
  await assert.rejects(wrong, (error) => error.code === grpc.status.UNKNOWN && /line 1 column/.test(error.message));
  const changing = client.newTxn({ readOnly: true }).mutate(mutation('_:a <name> "x" .'));
  await assert.rejects(changing, dgraph.ERR_READ_ONLY);
  const stranger = new dgraph.DgraphClientStub(address, grpc.credentials.createInsecure());
  await assert.rejects(stranger.login('groot', 'wrong password'), /invalid username or password/);
  stranger.close();
  assert.match((await stub.checkVersion(new dgraph.Check())).getTag(), /^v25\.2\.0\+hexgraph\./);
});

test('calls of pages by gRPC-Web', async () => {
  await client.newTxn().mutate(mutation('_:a <name> "Ann" .'));
  const call = (text) =>
    new Promise((resolve) => {
      const request = new messages.Request();
      request.setQuery(text);
      const method = {
        methodName: 'Query',
        service: { serviceName: 'api.Dgraph' },
        requestStream: false,
        responseStream: false,
        requestType: messages.Request,
        responseType: messages.Response,
      };
      const metadata = password ? { accessjwt: token } : {};
      web.unary(method, { request, metadata, host: `http://${address}`, onEnd: resolve });
    });
  const told = await call(NAMES);
  assert.equal(told.status, web.Code.OK, told.statusMessage);
  const json = Buffer.from(told.message.getJson_asU8()).toString();
  assert.deepEqual(JSON.parse(json), { q: [{ name: 'Ann' }] });
  const failed = await call('{ q(func: ');
  assert.equal(failed.status, web.Code.Unknown);
  assert.match(failed.statusMessage, /line 1 column/);
});

test('the client over HTTP', async () => {
  const http = new HttpClient(new HttpStub(url));
  if (password) await http.login('groot', password);
  // This client does not send back the mark of a transaction, which a server with users wants to see: there each is one request.
  const txn = http.newTxn();
  const commitNow = Boolean(password);
  const done = await txn.mutate({ setNquads: '_:a <name> "Ann" .\n_:a <balance> "1" .', commitNow });
  assert.match(done.data.uids.a, /^0x/);
  if (!commitNow) await txn.commit();
  const query = 'query q($name: string) { q(func: eq(name, $name)) { name balance } }';
  const told = await http.newTxn({ readOnly: true }).queryWithVars(query, { $name: 'Ann' });
  assert.deepEqual(told.data, { q: [{ name: 'Ann', balance: 1 }] });
  if (password) return;
  // Begun over HTTP, conflicts with a commit over gRPC.
  const late = http.newTxn();
  await late.mutate({ setJson: { uid: done.data.uids.a, balance: 2 } });
  await client.newTxn().mutate(mutation({ uid: done.data.uids.a, balance: 3 }));
  await assert.rejects(late.commit());
  assert.deepEqual(await ask('{ q(func: has(balance)) { balance } }'), { q: [{ balance: 3 }] });
});
