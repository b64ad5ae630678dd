import { describe, expect, test } from '@jest/globals';
import { connectBus } from '@quittance/shared/bus';
import { type BusUser, bucketNames, buckets, STREAM } from '@quittance/shared/bus-connection';
import { busUsers } from '@quittance/shared/bus-permissions';
import {
  commandSubject,
  commands,
  missingAnswer,
  missingSubject,
  oldestAnswer,
  oldestSubject,
} from '@quittance/shared/commands';
import { events, kindsFor, type Service, services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { connect, type NatsConnection } from 'nats';
import {
  commandNames,
  kinds,
  members,
  openNatsFixture,
  passwordOf,
  readers,
  streams,
} from './nats-fixture.ts';
import { forbidden, hearsFrom, othersThan, sendsTo } from './nats-forbidden.ts';

/** What each service’s user needs on NATS is permitted, and nothing else is. */

const nats = openNatsFixture();

describe('what the tables allow goes its way', () => {
  test('each event reaches each of its receivers once, which alone acknowledges it', async () => {
    const heard = new Map<Service, string[]>();
    const endings: (() => void)[] = [];
    for (const reader of readers) {
      const bodies: string[] = [];
      heard.set(reader, bodies);
      const messages = await nats.busOf(reader).consume(reader);
      endings.push(() => messages.stop());
      void (async () => {
        for await (const message of messages) {
          bodies.push(message.string());
          message.ack();
        }
      })();
    }
    for (const kind of kinds) {
      const copy = { kind, dedupe: `told.${kind}`, body: kind };
      for (const _ of ['once', 'again'])
        expect([kind, await nats.busOf(events[kind].from).publish([copy])]).toEqual([kind, [true]]);
    }
    const manager = await nats.admin.jetstreamManager();
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
      nats.busOf(by).answer(subject, async () => ({ missing: [by], parked: [] }));
      await eventually(async () => {
        for (const asker of askers) {
          const asked = await nats.busOf(asker).request(subject, {}, missingAnswer, 1_000);
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
      nats.busOf(by).answer(oldestSubject(by), async () => ({ id: by }));
      await eventually(async () => {
        for (const asker of askers) {
          const asked = await nats.busOf(asker).request(oldestSubject(by), {}, oldestAnswer, 1_000);
          expect([by, asker, asked]).toEqual([by, asker, { known: true, reply: { id: by } }]);
        }
      });
    }
  });

  test('each bucket is written by its writer and read by its readers', async () => {
    for (const bucket of bucketNames) {
      const { writtenBy, readBy } = buckets[bucket];
      await (await nats.busOf(writtenBy).kv(bucket)).put('ETH', 'one');
      await (await nats.busOf(writtenBy).kv(bucket)).put('ETH', 'two');
      for (const reader of readBy) {
        const kv = await nats.busOf(reader).kv(bucket);
        expect((await kv.get('ETH'))?.string()).toBe('two');
        expect(await kv.get('BTC')).toBeNull();
      }
    }
  });

  test('a bus that lost everything is whole again, and its users go on', async () => {
    const manager = await nats.admin.jetstreamManager();
    for (const name of streams) await manager.streams.delete(name);
    await eventually(async () => {
      expect(
        await nats.busOf('payouts').publish([{ kind: 'hold.void', dedupe: 'after', body: 'after' }]),
      ).toEqual([true]);
    });
    await eventually(async () => {
      const messages = await nats.busOf('ledger').consume('ledger');
      for await (const message of messages) {
        expect(message.string()).toBe('after');
        message.ack();
        messages.stop();
      }
    });
    await (await nats.busOf('ledger').kv('quotes')).put('ETH', 'new');
    expect((await (await nats.busOf('payouts').kv('quotes')).get('ETH'))?.string()).toBe('new');
  });

  test('and none of them was refused anything', () => {
    expect(nats.log.filter((line) => line.includes('refused') || line.includes('PERMISSIONS'))).toEqual([]);
  });
});

test('a user whose rights are wrong is told so in the log, once', async () => {
  const bus = await connectBus({ url: nats.urlOf('webhooks'), service: 'webhooks', logger: nats.logger });
  const refusals = () => nats.log.filter((line) => line.includes('evt.payouts.ledger.hold.void'));
  const forged = { kind: 'hold.void' as const, dedupe: 'forged', body: '{}' };
  expect(await bus.publish([forged])).toEqual([false]);
  await eventually(() =>
    expect(refusals().filter((line) => line.includes('the bus refused'))).toHaveLength(1),
  );
  expect(await bus.publish([forged])).toEqual([false]);
  expect(refusals().filter((line) => line.includes('the bus refused'))).toHaveLength(1);
  await bus.close();
});

const REFUSED_WITHIN_MS = 5_000;

type Act = 'publish' | 'subscribe';

/** Tries each on a connection of its own user: the server must refuse them all. */
async function expectRefused(user: BusUser, act: Act, subjects: readonly string[]): Promise<void> {
  const nc = await nats.login(user);
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

const acts = Object.keys(forbidden);

describe.each(busUsers)('%s may not publish', (user) => {
  test.each(acts)('%s', async (act) => {
    const before = (await (await nats.admin.jetstreamManager()).streams.info(STREAM)).state.last_seq;
    const subjects = forbidden[act]?.(user) ?? [];
    await expectRefused(user, 'publish', subjects);
    expect((await (await nats.admin.jetstreamManager()).streams.info(STREAM)).state.last_seq).toBe(before);
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
  ['who does not know the password', () => nats.login('ledger', 'guess')],
  ['who knows another’s', () => nats.login('ledger', passwordOf('payouts'))],
  ['the gateway, which has no business there', () => nats.login('gateway')],
])('%s is not let in', async (_who, entering) => {
  await expect(entering()).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
});
