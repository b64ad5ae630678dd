import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type NatsHandle, startNats } from '@quittance/engines/nats';
import { type Bus, connectBus } from '@quittance/shared/bus';
import {
  type BusUser,
  bucketNames,
  bucketStream,
  buckets,
  busUrl,
  PROVISIONER,
  STREAM,
} from '@quittance/shared/bus-connection';
import { ADMIN, busConfiguration, busUsers, permissionsOf } from '@quittance/shared/bus-permissions';
import { type Provisioner, startProvisioner } from '@quittance/shared/bus-setup';
import {
  type CommandName,
  commandSubject,
  commands,
  missingAnswer,
  missingSubject,
  oldestAnswer,
  oldestSubject,
} from '@quittance/shared/commands';
import type { Db } from '@quittance/shared/db';
import {
  type EventKind,
  events,
  kindsFor,
  type Service,
  services,
  subjectOf,
} from '@quittance/shared/events';
import { newEventId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { startConsumer } from '@quittance/shared/messenger';
import { eventually } from '@quittance/testkit/eventually';
import { connect, type NatsConnection } from 'nats';

/*
 * What each service's user may do on NATS, and everything else that it may not. What is expected is said here once
 * more, in the words of the tables: who sends, who asks, who writes.
 */

const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
const passwordOf = (user: string) => `12e5-${user}`;
const quoted = (user: string) => JSON.stringify(passwordOf(user));
const kinds = Object.keys(events) as EventKind[];
const commandNames = Object.keys(commands) as CommandName[];
const members = busUsers.filter((user) => user !== PROVISIONER) as Service[];
const readers = services.filter((service) => kindsFor(service).length > 0);
const streams = [STREAM, ...bucketNames.map(bucketStream)];

let nats: NatsHandle;
let provisioner: Provisioner;
let admin: NatsConnection;
/** What the services' own connections had to say: a refusal in it is a right that is missing. */
const log: string[] = [];
const logger = createLogger('test', 'warn', { write: (line) => log.push(line) });
const buses = new Map<Service, Bus>();

const urlOf = (user: string) => busUrl(nats.url, user, passwordOf(user));
const busOf = (service: Service): Bus => buses.get(service) as Bus;
const login = (user: string, pass = passwordOf(user)) =>
  connect({ servers: nats.url, user, pass, inboxPrefix: `_INBOX.${user}`, reconnect: false });

beforeAll(async () => {
  nats = await startNats({
    dataDir,
    port: 0,
    config: busConfiguration(quoted, quoted(ADMIN)),
  });
  provisioner = startProvisioner({ url: urlOf(PROVISIONER), logger, everyMs: 200 });
  await provisioner.made;
  admin = await login(ADMIN);
  for (const service of members)
    buses.set(service, await connectBus({ url: urlOf(service), service, logger }));
});
afterAll(async () => {
  await Promise.all([...buses.values()].map((bus) => bus.close()));
  await admin?.close();
  await provisioner?.stop();
  await nats?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const REFUSED_WITHIN_MS = 5_000;
const ANSWERED_WITHIN_MS = 1_000;

type Act = 'publish' | 'subscribe';

/** Tries each on a connection of its own user: the server must refuse them all. */
async function expectRefused(user: BusUser, act: Act, subjects: readonly string[]): Promise<void> {
  const nc = await login(user);
  const refused = new Set<string>();
  void (async () => {
    for await (const { permissionContext } of nc.status()) {
      if (permissionContext !== undefined) refused.add(permissionContext.subject);
    }
  })();
  for (const subject of subjects) {
    // An answer would come to where this connection may hear it: no refusal is owed to a missing inbox.
    if (act === 'publish') nc.publish(subject, '{}', { reply: `_INBOX.${user}.try` });
    // The error comes again as a status, which is where it is read.
    else nc.subscribe(subject, { callback: () => undefined });
  }
  await nc.flush();
  try {
    await eventually(
      () => expect(subjects.filter((subject) => refused.has(subject))).toEqual(subjects),
      REFUSED_WITHIN_MS,
    );
  } finally {
    await nc.close();
  }
}

const othersThan = (user: BusUser) => members.filter((other) => other !== user);
const mayAsk = (user: BusUser, command: CommandName) =>
  (commands[command].askedBy as readonly BusUser[]).includes(user);
const mayRead = (user: BusUser, bucket: (typeof bucketNames)[number]) =>
  (buckets[bucket].readBy as readonly BusUser[]).includes(user);
const sendsTo = (user: BusUser, to: Service) =>
  kinds.some((kind) => events[kind].from === user && (events[kind].to as readonly Service[]).includes(to));

const hearsFrom = (user: BusUser, from: Service) =>
  kinds.some((kind) => events[kind].from === from && (events[kind].to as readonly BusUser[]).includes(user));

/** As the ledger is told of one. */
const aDeposit = () => ({
  id: newEventId(),
  kind: 'deposit.settled',
  created_at: new Date().toISOString(),
  request_id: null,
  payload: {
    ...{ deposit_id: 'dep', account_id: 'acc', invoice_id: 'inv', asset: 'ETH', amount: '1', address: '0x1' },
    ...{ derivation_index: 1, outpoint: 'o', tx_hash: null, block_height: 1, block_hash: '0x1' },
    disposition: 'credit',
  },
});

/** By what it would be: subjects that a user may not publish. */
const forbidden: Record<string, (user: BusUser) => string[]> = {
  'an event in another’s name': (user) =>
    kinds
      .filter((kind) => events[kind].from !== user)
      .flatMap((kind) => events[kind].to.map((to) => subjectOf(kind, to))),
  'another’s event in its own name': (user) =>
    kinds
      .filter((kind) => events[kind].from !== user)
      .flatMap((kind) => services.map((to) => `evt.${user}.${to}.${kind}`)),
  'an event to whom it is not for': (user) =>
    kinds
      .filter((kind) => events[kind].from === user)
      .flatMap((kind) =>
        services
          .filter((to) => !(events[kind].to as readonly Service[]).includes(to))
          .map((to) => subjectOf(kind, to)),
      ),
  'a question it has no business to ask': (user) => [
    ...commandNames.filter((command) => !mayAsk(user, command)).map(commandSubject),
    ...services.filter((to) => !sendsTo(user, to)).map(missingSubject),
    ...services.filter((from) => !hearsFrom(user, from)).map(oldestSubject),
    'rpc.ledger.anything',
  ],
  'a request for another’s messages': (user) =>
    readers
      .filter((reader) => reader !== user)
      .map((reader) => `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${reader}`),
  'an acknowledgement of another’s messages': (user) =>
    readers.filter((reader) => reader !== user).map((reader) => `$JS.ACK.${STREAM}.${reader}.1.1.1.1.0`),
  'a change of any durable': (user) => [
    // The provisioner makes one again that is past the end of its stream.
    ...readers
      .filter(() => user !== PROVISIONER)
      .flatMap((reader) => [
        `$JS.API.CONSUMER.CREATE.${STREAM}.${reader}`,
        `$JS.API.CONSUMER.CREATE.${STREAM}.${reader}.evt.*.${reader}.>`,
        `$JS.API.CONSUMER.DELETE.${STREAM}.${reader}`,
      ]),
    ...readers.flatMap((reader) => [
      `$JS.API.CONSUMER.DURABLE.CREATE.${STREAM}.${reader}`,
      `$JS.API.CONSUMER.PAUSE.${STREAM}.${reader}`,
      `$JS.API.CONSUMER.LEADER.STEPDOWN.${STREAM}.${reader}`,
    ]),
  ],
  'a consumer of its own making': (user) => [
    `$JS.API.CONSUMER.CREATE.${STREAM}`,
    `$JS.API.CONSUMER.CREATE.${STREAM}.mine`,
    `$JS.API.CONSUMER.CREATE.${STREAM}.mine.evt.>`,
    ...bucketNames.flatMap((bucket) => [
      `$JS.API.CONSUMER.CREATE.${bucketStream(bucket)}`,
      `$JS.API.CONSUMER.CREATE.${bucketStream(bucket)}.mine.$KV.${bucket}.>`,
      `$JS.API.CONSUMER.DURABLE.CREATE.${bucketStream(bucket)}.${user}`,
    ]),
  ],
  'a look at others’ durables': (user) => [
    `$JS.API.CONSUMER.LIST.${STREAM}`,
    `$JS.API.CONSUMER.NAMES.${STREAM}`,
    ...readers
      .filter((reader) => user !== PROVISIONER && reader !== user)
      .map((reader) => `$JS.API.CONSUMER.INFO.${STREAM}.${reader}`),
  ],
  'a stream deleted, emptied or changed': () => [
    ...streams.flatMap((name) =>
      ['DELETE', 'PURGE', 'UPDATE', 'MSG.DELETE', 'SNAPSHOT', 'RESTORE', 'LEADER.STEPDOWN'].map(
        (what) => `$JS.API.STREAM.${what}.${name}`,
      ),
    ),
    '$JS.API.STREAM.CREATE.MINE',
  ],
  'a message read by its number': () => [
    ...streams.flatMap((name) => [`$JS.API.STREAM.MSG.GET.${name}`, `$JS.API.DIRECT.GET.${name}`]),
    `$JS.API.DIRECT.GET.${STREAM}.evt.ledger.invoices.credit.recorded`,
  ],
  'anything else of JetStream': () => [
    '$JS.API.INFO',
    '$JS.API.STREAM.LIST',
    '$JS.API.STREAM.NAMES',
    '$JS.API.ACCOUNT.PURGE.$G',
    '$JS.API.META.LEADER.STEPDOWN',
    '$JS.FC.EVT.x.y',
    '$SYS.REQ.SERVER.PING',
  ],
  'a bucket that is another’s to write': (user) =>
    bucketNames.filter((bucket) => buckets[bucket].writtenBy !== user).map((bucket) => `$KV.${bucket}.ETH`),
  'a bucket that is not for it to read': (user) =>
    bucketNames
      .filter((bucket) => !mayRead(user, bucket))
      .map((bucket) => `$JS.API.DIRECT.GET.${bucketStream(bucket)}.$KV.${bucket}.ETH`),
  'an answer to a question that was never put to it': (user) => [
    ...othersThan(user).map((other) => `_INBOX.${other}.forged`),
    `_INBOX.${ADMIN}.forged`,
  ],
};

const acts = Object.keys(forbidden);

describe.each(busUsers)('%s may not publish', (user) => {
  test.each(acts)('%s', async (act) => {
    const before = (await (await admin.jetstreamManager()).streams.info(STREAM)).state.last_seq;
    const subjects = forbidden[act]?.(user) ?? [];
    await expectRefused(user, 'publish', subjects);
    expect((await (await admin.jetstreamManager()).streams.info(STREAM)).state.last_seq).toBe(before);
  });
});

test.each(busUsers)('%s may hear nothing that is others’', async (user) => {
  const subjects = [
    '>',
    'evt.>',
    '*.>',
    ...services.map((to) => `evt.*.${to}.>`),
    '_INBOX.>',
    ...othersThan(user).map((other) => `_INBOX.${other}.>`),
    'rpc.>',
    ...commandNames.filter((command) => commands[command].by !== user).map(commandSubject),
    ...othersThan(user).map(missingSubject),
    ...othersThan(user).map(oldestSubject),
    '$JS.>',
    '$JS.ACK.>',
    '$JS.API.>',
    '$JS.EVENT.ADVISORY.>',
    '$KV.>',
    ...bucketNames.map((bucket) => `$KV.${bucket}.*`),
    '$SYS.>',
  ];
  await expectRefused(user, 'subscribe', subjects);
});

test.each<[string, () => Promise<NatsConnection>]>([
  ['nobody', () => connect({ servers: nats.url, reconnect: false })],
  ['who does not know the password', () => login('ledger', 'guess')],
  ['who knows another’s', () => login('ledger', passwordOf('payouts'))],
  ['the gateway, which has no business there', () => login('gateway')],
])('%s is not let in', async (_who, entering) => {
  await expect(entering()).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
});

describe('what the tables allow goes its way', () => {
  test('each event reaches each of its receivers, which alone acknowledges it', async () => {
    const heard = new Map<Service, string[]>();
    const endings: (() => void)[] = [];
    for (const reader of readers) {
      const bodies: string[] = [];
      heard.set(reader, bodies);
      const messages = await busOf(reader).consume(reader);
      endings.push(() => messages.stop());
      void (async () => {
        for await (const message of messages) {
          bodies.push(message.string());
          message.ack();
        }
      })();
    }
    for (const kind of kinds) {
      const sent = await busOf(events[kind].from).publish([{ kind, dedupe: `told.${kind}`, body: kind }]);
      expect([kind, sent]).toEqual([kind, [true]]);
    }
    const manager = await admin.jetstreamManager();
    await eventually(async () => {
      for (const reader of readers) {
        expect(heard.get(reader)?.toSorted()).toEqual(kindsFor(reader).toSorted());
        const { num_ack_pending, num_pending } = await manager.consumers.info(STREAM, reader);
        expect([reader, num_ack_pending, num_pending]).toEqual([reader, 0, 0]);
      }
    });
    for (const end of endings) end();
  });

  test('each question is answered to each who may ask it', async () => {
    const questions = [
      ...commandNames.map((name) => ({
        subject: commandSubject(name),
        by: commands[name].by as Service,
        askers: commands[name].askedBy as readonly Service[],
      })),
      ...members.map((by) => ({
        subject: missingSubject(by),
        by,
        askers: members.filter((asker) => sendsTo(asker, by)),
      })),
    ];
    for (const { subject, by, askers } of questions) {
      busOf(by).answer(subject, async () => ({ missing: [by], parked: [] }));
      await eventually(async () => {
        for (const asker of askers) {
          const asked = await busOf(asker).request(subject, {}, missingAnswer, 1_000);
          expect([subject, asker, asked]).toEqual([
            subject,
            asker,
            { known: true, reply: { missing: [by], parked: [] } },
          ]);
        }
      });
    }
  });

  test('each receiver is told by its senders what they may still send', async () => {
    for (const by of members) {
      const askers = members.filter((asker) => hearsFrom(asker, by));
      if (askers.length === 0) continue;
      busOf(by).answer(oldestSubject(by), async () => ({ id: by }));
      await eventually(async () => {
        for (const asker of askers) {
          const asked = await busOf(asker).request(oldestSubject(by), {}, oldestAnswer, 1_000);
          expect([by, asker, asked]).toEqual([by, asker, { known: true, reply: { id: by } }]);
        }
      });
    }
  });

  test('each bucket is written by its writer and read by its readers', async () => {
    for (const bucket of bucketNames) {
      const { writtenBy, readBy } = buckets[bucket];
      await (await busOf(writtenBy).kv(bucket)).put('ETH', 'one');
      await (await busOf(writtenBy).kv(bucket)).put('ETH', 'two');
      for (const reader of readBy) {
        const kv = await busOf(reader).kv(bucket);
        expect((await kv.get('ETH'))?.string()).toBe('two');
        expect(await kv.get('BTC')).toBeNull();
      }
    }
  });

  test('a bus that lost everything is whole again, and its users go on', async () => {
    const manager = await admin.jetstreamManager();
    for (const name of streams) await manager.streams.delete(name);
    await eventually(async () => {
      expect(await busOf('payouts').publish([{ kind: 'hold.void', dedupe: 'after', body: 'after' }])).toEqual(
        [true],
      );
    });
    await eventually(async () => {
      const messages = await busOf('ledger').consume('ledger');
      for await (const message of messages) {
        expect(message.string()).toBe('after');
        message.ack();
        messages.stop();
      }
    });
    await (await busOf('ledger').kv('quotes')).put('ETH', 'new');
    expect((await (await busOf('payouts').kv('quotes')).get('ETH'))?.string()).toBe('new');
  });

  test('and none of them was refused anything', () => {
    expect(log.filter((line) => line.includes('refused') || line.includes('PERMISSIONS'))).toEqual([]);
  });
});

test('answers of NATS that an earlier configuration let it store under another’s subject have no effect, and are nobody’s dead letters', async () => {
  const stored: string[] = [];
  const taken: string[] = [];
  const rows = async (sql: { name: string }, values: readonly unknown[]) => {
    if (sql.name !== 'inbox_insert') stored.push(sql.name);
    return sql.name === 'inbox_insert' ? (values[0] as string[]).map((id) => ({ event_id: id })) : [];
  };
  // What it does to the database is written down: to park is to insert a row.
  const db = { rows, transaction: (work: (trx: unknown) => unknown) => work({ rows }) } as unknown as Db;
  const lines: string[] = [];
  const consumer = startConsumer({
    db,
    bus: busOf('ledger'),
    service: 'ledger',
    logger: createLogger('test', 'info', { write: (line) => lines.push(line) }),
    handlers: { '*': async (_trx, events) => void taken.push(...events.map(({ id }) => id)) },
  });
  const manager = await admin.jetstreamManager();
  const lastSequence = async () => (await manager.streams.info(STREAM)).state.last_seq;
  // In the account of the streams, as all users were in one account before.
  const evil = await login(ADMIN);
  const own = 'evt.payouts.webhooks.payout.created';
  const next = `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.payouts`;
  const victim = 'evt.invoices.ledger.deposit.settled';
  await (await busOf('ledger').kv('quotes')).put('ETH', 'a value');
  /** What it may ask, each with an answer of its own kind. */
  const questions: [subject: string, body: string][] = [
    [next, '{"batch":1,"no_wait":true}'],
    [next, '{"batch":1,"expires":50000000}'],
    [next, '{"batch":1,"expires":500000000,"idle_heartbeat":100000000}'],
    [next, '{'],
    [`$JS.API.CONSUMER.INFO.${STREAM}.payouts`, ''],
    [own, '{}'],
    ['$JS.API.DIRECT.GET.KV_quotes.$KV.quotes.ETH', ''],
    ['$JS.API.DIRECT.GET.KV_quotes.$KV.quotes.NONE', ''],
  ];
  for (const [subject, body] of questions) {
    const before = await lastSequence();
    evil.publish(subject, body, { reply: victim });
    await eventually(async () => expect(await lastSequence()).toBeGreaterThan(before));
  }
  const last = aDeposit();
  await busOf('invoices').publish([{ kind: 'deposit.settled', dedupe: 'last', body: JSON.stringify(last) }]);
  await eventually(() => expect(taken).toContain(last.id), 20_000);
  await consumer.stop();
  await evil.close();
  expect(taken).toEqual([last.id]);
  expect(stored).toEqual([]);
  expect(lines.filter((line) => line.includes('answers of NATS itself'))).toHaveLength(1);
  const { num_pending, num_ack_pending } = await manager.consumers.info(STREAM, 'ledger');
  expect({ num_pending, num_ack_pending }).toEqual({ num_pending: 0, num_ack_pending: 0 });
});

test('a user whose rights are wrong is told so in the log, once', async () => {
  const bus = await connectBus({ url: urlOf('webhooks'), service: 'webhooks', logger });
  const refusals = () => log.filter((line) => line.includes('evt.payouts.ledger.hold.void'));
  const forged = { kind: 'hold.void' as const, dedupe: 'forged', body: '{}' };
  expect(await bus.publish([forged])).toEqual([false]);
  await eventually(() =>
    expect(refusals().filter((line) => line.includes('the bus refused'))).toHaveLength(1),
  );
  expect(await bus.publish([forged])).toEqual([false]);
  expect(refusals().filter((line) => line.includes('the bus refused'))).toHaveLength(1);
  await bus.close();
});

// Last: each user fills the stream with rubbish in its own name.
describe('a reply subject reaches no further than the account of the user who names it', () => {
  const ofUser = (user: BusUser, subject: string) =>
    permissionsOf(user).publish.some((allowed) =>
      allowed.endsWith('.*') ? subject.startsWith(allowed.slice(0, -1)) : subject === allowed,
    );

  /** What each stream holds under subjects that the user may not publish: the number of the newest message of each. */
  async function storedOfOthers(user: BusUser): Promise<Map<string, number>> {
    const { streams: api } = await admin.jetstreamManager();
    // A stream stores in the order of arrival: what was sent before this is in it, or never will be.
    const markers = ['evt.marker', ...bucketNames.map((bucket) => `$KV.${bucket}.marker`)];
    for (const marker of markers) await admin.jetstream().publish(marker);
    const newest = new Map<string, number>();
    for (const name of streams) {
      const { state } = await api.info(name, { subjects_filter: '>' });
      for (const subject of Object.keys(state.subjects ?? {})) {
        if (ofUser(user, subject) || markers.includes(subject)) continue;
        newest.set(subject, (await api.getMessage(name, { last_by_subj: subject })).seq);
      }
    }
    return newest;
  }

  /** Each request that the user may make, with bodies that each get an answer of another kind. */
  const requestsOf = (user: BusUser): [subject: string, body: string][] =>
    permissionsOf(user).publish.flatMap((allowed) => {
      const subject = allowed.replace(/\*$/, 'ETH').replace(/>$/, '1.1.1.1.0');
      // With an empty body the provisioner would delete a durable.
      const bodies = subject.includes('.CONSUMER.DELETE.') ? ['{'] : ['', '{', '{}'];
      const pulls = [
        '{"batch":1,"no_wait":true}',
        '{"batch":1,"expires":50000000}',
        '{"batch":1,"expires":500000000,"idle_heartbeat":100000000}',
      ];
      return [...bodies, ...(subject.includes('.MSG.NEXT.') ? pulls : [])].map((body): [string, string] => [
        subject,
        body,
      ]);
    });

  test('two services together store no event in the name of a third', async () => {
    const before = await storedOfOthers('payouts');
    const [asking, answering] = [await login('payouts'), await login('ledger')];
    const answered = Promise.withResolvers<void>();
    answering.subscribe(commandSubject('hold.place'), {
      callback: (_error, message) => {
        message.respond(JSON.stringify(aDeposit()));
        answered.resolve();
      },
    });
    await answering.flush();
    asking.publish(commandSubject('hold.place'), '{}', { reply: 'evt.invoices.ledger.deposit.settled' });
    await answered.promise;
    await answering.flush();
    expect(await storedOfOthers('payouts')).toEqual(before);
    await Promise.all([asking.close(), answering.close()]);
  });

  test.each(busUsers)('no answer that %s asks for is stored under another’s subject', async (user) => {
    for (const bucket of bucketNames)
      await (await busOf(buckets[bucket].writtenBy).kv(bucket)).put('ETH', 'kept');
    for (const command of commandNames)
      busOf(commands[command].by).answer(commandSubject(command), async () => ({}));
    const victims = [
      ...kinds.flatMap((kind) => events[kind].to.map((to) => subjectOf(kind, to))),
      ...bucketNames.map((bucket) => `$KV.${bucket}.ETH`),
      '$JS.API.STREAM.PURGE.KV_quotes',
    ].filter((subject) => !ofUser(user, subject));
    const before = await storedOfOthers(user);
    const evil = await login(user);
    for (const [subject, body] of requestsOf(user)) {
      for (const reply of victims) evil.publish(subject, body, { reply });
      // The server works in order: what answers this one has answered the others as well.
      await evil.request(subject, body, { timeout: ANSWERED_WITHIN_MS }).catch(() => undefined);
    }
    await evil.close();
    expect(await storedOfOthers(user)).toEqual(before);
  });
});
