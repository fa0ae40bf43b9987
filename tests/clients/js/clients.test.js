// Unmodified clients against a server that runs: what they get, not only that they end.
// HEXGRAPH names the command.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as operations from '@graphql-codegen/typescript-operations';
import { buildClientSchema, getIntrospectionQuery, parse, printSchema, validateSchema } from 'graphql';
import { ClientError, GraphQLClient, gql } from 'graphql-request';
import { createClient as createEventsClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { WebSocket } from 'ws';

const run = promisify(execFile);

const SCHEMA = `
  """Something to be done."""
  type Task @withSubscription {
    id: ID!
    title: String! @id
    state: State @search
    effort: Int @search
    tags: [String!] @search(by: [hash])
    owner: User @hasInverse(field: tasks)
  }
  enum State { OPEN DONE }
  type User @withSubscription {
    name: String! @id
    tasks: [Task!]
  }
`;

const ADD = gql`
  mutation Add($input: [AddTaskInput!]!) {
    addTask(input: $input) { numUids task { title effort owner { name } } }
  }
`;

const OPEN = 'subscription Open { queryTask(filter: { state: { eq: OPEN } }, order: { asc: title }) { title } }';

let server;
let url;

before(async () => {
  server = spawn(process.env.HEXGRAPH ?? 'hexgraph', ['serve', '--port', '0']);
  url = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    server.stdout.on('data', (data) => {
      const found = /http:\/\/[^\s]+/.exec(data);
      if (found) resolve(found[0]);
    });
  });
  const admin = new GraphQLClient(`${url}/admin`);
  const set = gql`
    mutation Set($schema: String!) {
      updateGQLSchema(input: { set: { schema: $schema } }) { gqlSchema { schema } }
    }
  `;
  const { updateGQLSchema } = await admin.request(set, { schema: SCHEMA });
  assert.equal(updateGQLSchema.gqlSchema.schema, SCHEMA);
});

after(() => {
  server.removeAllListeners('exit');
  server.kill('SIGINT');
});

const add = (title, more = {}) =>
  new GraphQLClient(`${url}/graphql`).request(ADD, { input: [{ title, state: 'OPEN', ...more }] });

/** The next value of an iterator; it has to come soon. */
async function next(iterator) {
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error('nothing came')), 20_000).unref();
  });
  const { value, done } = await Promise.race([iterator.next(), late]);
  return done ? undefined : value;
}

const titles = (result) => result.data.queryTask.map((task) => task.title);

const clear = () =>
  new GraphQLClient(`${url}/graphql`).request(gql`mutation { deleteTask(filter: {}) { numUids } }`);

test('graphql-request: variables, nested objects, errors', async () => {
  const client = new GraphQLClient(`${url}/graphql`);
  const { addTask } = await add('write', { effort: 3, owner: { name: 'Ada' } });
  assert.deepEqual(addTask, {
    numUids: 2,
    task: [{ title: 'write', effort: 3, owner: { name: 'Ada' } }],
  });
  const query = gql`
    query Find($tag: String, $with: Boolean!) {
      user: getUser(name: "Ada") { tasks { __typename title @include(if: $with) } }
      queryTask(filter: { tags: { eq: $tag } }) { title }
      aggregateTask { count effortMax }
    }
  `;
  assert.deepEqual(await client.request(query, { tag: 'none', with: true }), {
    user: { tasks: [{ __typename: 'Task', title: 'write' }] },
    queryTask: [],
    aggregateTask: { count: 1, effortMax: 3 },
  });
  await assert.rejects(client.request('{ queryTask { nothing } }'), (error) => {
    assert.ok(error instanceof ClientError);
    const [{ message, locations }] = error.response.errors;
    assert.match(message, /^Cannot query field "nothing" on type "Task"\./);
    assert.deepEqual(locations, [{ line: 1, column: 15 }]);
    return true;
  });
  await assert.rejects(add('write'), (error) => {
    assert.match(error.response.errors[0].message, /id write already exists for field title inside type Task/);
    assert.deepEqual(error.response.errors[0].path, ['addTask']);
    return true;
  });
  await clear();
});

test('graphql-ws: subscriptions, queries and mutations on one connection', async () => {
  const client = createSocketClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { 'X-Anything': 'goes' },
    keepAlive: 50,
    retryAttempts: 0,
  });
  const open = client.iterate({ query: OPEN });
  assert.deepEqual(titles(await next(open)), []);
  const counts = client.iterate({ query: 'subscription { aggregateTask { count } }' });
  assert.equal((await next(counts)).data.aggregateTask.count, 0);
  await add('one');
  assert.deepEqual(titles(await next(open)), ['one']);
  assert.equal((await next(counts)).data.aggregateTask.count, 1);

  const mutation = client.iterate({
    query: 'mutation Done($t: String!) { updateTask(input: {filter: {title: {eq: $t}}, set: {state: DONE}}) { numUids } }',
    variables: { t: 'one' },
  });
  assert.equal((await next(mutation)).data.updateTask.numUids, 1);
  assert.equal(await next(mutation), undefined);
  assert.deepEqual(titles(await next(open)), []);

  await assert.rejects(next(client.iterate({ query: 'subscription { what }' })), (errors) => {
    assert.match(errors[0].message, /^Cannot query field "what" on type "Subscription"\./);
    return true;
  });
  await open.return();
  // What was given back is asked no more, and the connection goes on.
  const query = client.iterate({ query: '{ queryTask { title } }' });
  assert.deepEqual(titles(await next(query)), ['one']);
  await client.dispose();
  await clear();
});

test('graphql-sse: a connection for each operation', async () => {
  const client = createEventsClient({ url: `${url}/graphql`, retryAttempts: 0 });
  const open = client.iterate({ query: OPEN });
  assert.deepEqual(titles(await next(open)), []);
  await add('two');
  await add('three');
  let seen = titles(await next(open));
  if (seen.length < 2) seen = titles(await next(open));
  assert.deepEqual(seen, ['three', 'two']);
  await open.return();
  const query = client.iterate({ query: '{ aggregateTask { count } }' });
  assert.equal((await next(query)).data.aggregateTask.count, 2);
  assert.equal(await next(query), undefined);
  const [{ message }] = (await next(client.iterate({ query: '{ what }' }))).errors;
  assert.match(message, /^Cannot query field "what" on type "Query"\./);
  client.dispose();
  await clear();
});

test('graphql-codegen: types from the schema that the server tells', async () => {
  const client = new GraphQLClient(`${url}/graphql`);
  const schema = buildClientSchema(await client.request(getIntrospectionQuery()));
  assert.deepEqual(validateSchema(schema), []);
  assert.equal(schema.getType('Task').description, 'Something to be done.');
  const types = await codegen({
    filename: 'types.ts',
    schema: parse(printSchema(schema)),
    documents: [
      { location: 'add', document: parse(ADD) },
      { location: 'open', document: parse(OPEN) },
    ],
    config: { strictScalars: true, scalars: { DateTime: 'string', Int64: 'number', ID: 'string' } },
    plugins: [{ typescript: {} }, { operations: {} }],
    pluginMap: { typescript, operations },
  });
  assert.match(types, /export type Task = \{/);
  assert.match(types, /export enum State \{\s+Open = 'OPEN',\s+Done = 'DONE'/);

  const folder = await mkdtemp(join(tmpdir(), 'hexgraph-'));
  try {
    await writeFile(join(folder, 'types.ts'), types);
    const use = (line) => `
      import type { AddMutation, AddMutationVariables, OpenSubscription } from './types';
      import { State } from './types';
      export const variables: AddMutationVariables = { input: [{ title: 'x', state: State.Open }] };
      export const title = (data: OpenSubscription): string | undefined => data.queryTask?.[0]?.title;
      export const owner = (data: AddMutation) => data.addTask?.task?.[0]?.owner?.name;
      ${line}
    `;
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--target', 'es2020', '--module', 'esnext'];
    const check = async (line) => {
      await writeFile(join(folder, 'use.ts'), use(line));
      const resolution = ['--moduleResolution', 'bundler'];
      return run(process.execPath, [tsc, ...options, ...resolution, join(folder, 'use.ts')]);
    };
    await check('');
    await assert.rejects(check('export const wrong: AddMutationVariables = { input: [{}] };'), (error) => {
      assert.match(error.stdout, /Property 'title' is missing/);
      return true;
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
