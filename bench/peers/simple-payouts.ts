import { hash } from 'node:crypto';
import { freePort } from '@quittance/engines/free-port';
import { startRedis } from '@quittance/engines/redis';
import { merchant } from '@quittance/testkit/merchant';
import type { Benchmark } from '../benchmark.ts';
import { drive } from '../drive.ts';
import { processesOf } from '../lab.ts';
import { startStub } from '../stub.ts';
import { payoutsOf } from '../targets/payouts.ts';
import { onServer } from '../yardsticks/tpc-b.ts';
import { startPeer } from './installed.ts';

const CLIENTS = 32;
const ACCOUNTS = 16;
const SECONDS = 3;
const WARM_UP_SECONDS = 8;
const DATABASE = 'simple';

export const payoutsAndSimplest: Benchmark = {
  name: 'payouts-simple',
  what: 'POST /api/payouts end to end as in `payouts`: through a gateway with limits, held in a double-entry ledger that checks the signed request, repeatable, with its events in an outbox.',
  yardstick:
    'the simplest honest implementation with express, pg and BullMQ: one process, one transaction that reserves the amount and stores the payout, a job for the webhook; what is committed and not yet queued is lost in a crash',
  target: { atLeast: 1 },
  unit: '/s',
  warmUp: false,
  async setUp(lab) {
    const quittance = await lab.quittance();
    const ours = await payoutsOf(quittance);
    const redis = await startRedis({ port: 0 });
    const receiver = await startStub('receiver.ts');
    const server = quittance.stack.engines.postgres.url;
    await onServer(server, async (client) => {
      await client.query(`drop database if exists ${DATABASE} with (force)`);
      await client.query(`create database ${DATABASE}`);
    });
    const database = new URL(server);
    database.pathname = `/${DATABASE}`;
    const port = String(await freePort());
    const peer = await startPeer('simple-payouts', {
      DATABASE_URL: database.href,
      REDIS_PORT: new URL(redis.url).port,
      PORT: port,
      HOOK_URL: `${receiver.url}/hooks`,
    });
    const names = Array.from({ length: ACCOUNTS }, (_, i) => `account ${i}`);
    await onServer(database.href, (client) =>
      client.query(
        `insert into simple_accounts select id, token, 1e30 from unnest($1::text[], $2::text[]) as t (id, token)`,
        [names, names.map((name) => hash('sha256', name, 'hex'))],
      ),
    );
    const shops = names.map((name) => merchant(`http://127.0.0.1:${port}`, name, name));
    const order = { asset: 'ETH', amount: '0.0001', address: `0x${'ab'.repeat(20)}` };
    const theirs = async (client: number) => {
      const answer = await shops[client % ACCOUNTS]?.post('/api/payouts', order);
      if (answer?.status !== 201) throw new Error(`the simple one answers ${answer?.status}`);
    };
    await drive(ours, CLIENTS, WARM_UP_SECONDS);
    await drive(theirs, CLIENTS, WARM_UP_SECONDS / 2);
    return {
      ours: () => drive(ours, CLIENTS, SECONDS),
      theirs: () => drive(theirs, CLIENTS, SECONDS),
      async close() {
        await peer.stop();
        await receiver.engine.stop();
        await redis.stop();
      },
      processes: { ...processesOf(quittance), simple: peer.pid },
    };
  },
};
