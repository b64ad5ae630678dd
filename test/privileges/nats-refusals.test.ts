import { describe, expect, test } from '@jest/globals';
import { type BusUser, bucketNames, STREAM } from '@quittance/shared/bus-connection';
import { busUsers } from '@quittance/shared/bus-permissions';
import { commandSubject, commands, missingSubject, oldestSubject } from '@quittance/shared/commands';
import { services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { connect, type NatsConnection } from 'nats';
import { commandNames, openNatsFixture, passwordOf } from './nats-fixture.ts';
import { forbidden, othersThan } from './nats-forbidden.ts';

/** What each service’s user may not do on NATS is refused. */

const nats = openNatsFixture();

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
