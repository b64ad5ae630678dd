import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { WrongNetwork } from '@quittance/chains/chain';
import { LeaseLost, renewLease, takeLease } from '@quittance/shared/lease';
import { eventually } from '@quittance/testkit/eventually';
import { HOT } from '@quittance/testkit/scripted-evm-sender';
import { evmDriver } from '../src/operations/account-chain/evm-driver.ts';
import { pay } from '../src/operations/account-chain/pay-reserved.ts';
import { chainLease } from '../src/operations/run-chain-worker.ts';
import { findPayout } from '../src/store/payouts.ts';
import { chainWorkerStep } from '../src/workers.ts';
import { CONFIRMATIONS, engineSuite } from './engine-fixture.ts';
import { intercepted } from './scripted-chain.ts';

/** One replica runs the chain worker, and signs only with a lease and for a wallet that the database knows. */
const fixture = engineSuite(10n);

/** One more replica, whose calls to its node are counted. */
function counted() {
  let calls = 0;
  const sender = intercepted(fixture.chain.sender, (call) => {
    calls += 1;
    return call();
  });
  return { ports: fixture.replicaWith(sender), calls: () => calls };
}

/** One more replica, whose node is on another network. */
const onWrongNetwork = () =>
  fixture.replicaWith({ check: () => Promise.reject(new WrongNetwork('the node is on chain 1')) });

describe('the chain worker', () => {
  it('is refused with another hot wallet', async () => {
    await fixture.send();
    const stranger = fixture.replicaWith({ hotAddress: `0x${'b1'.repeat(20)}` });
    expect(await fixture.run(stranger)).toBe(0);
    expect(stranger.signingPause.reason).toMatch(/the settings name the hot wallet/);
    expect(await fixture.transactions()).toHaveLength(1);
  });

  it('runs in one process at a time', async () => {
    for (let i = 0; i < 5; i++) await fixture.reserve();
    const others = [fixture.replica(), fixture.replica(), fixture.replica()];
    const done = await Promise.all(others.map((ports) => fixture.run(ports)));
    expect(done.sort()).toEqual([0, 0, 5]);
    expect(await fixture.transactions()).toHaveLength(5);
  });

  it('signs nothing and gives its lease to another process when its own node is away or on another network', async () => {
    const { id } = await fixture.reserve();
    const wrong = onWrongNetwork();
    const away = fixture.replicaWith({ check: () => Promise.reject(new Error('ECONNREFUSED')) });
    for (let i = 0; i < 3; i++) expect(await fixture.run(wrong)).toBe(0);
    expect(await fixture.transactions()).toEqual([]);
    expect(fixture.lines.filter(({ msg }) => msg === 'nothing is signed')).toHaveLength(1);
    await expect(fixture.run(away)).rejects.toThrow('ECONNREFUSED');
    expect(await fixture.run()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    // It has no lease, and still notices when its node is on the right network.
    expect(wrong.signingPause.reason).toMatch('chain 1');
    wrong.sender = fixture.chain.sender;
    await fixture.run(wrong);
    expect(wrong.signingPause.reason).toBeUndefined();
  });

  it('asks its node once in thirty rounds while nothing is open, and at once when a payout comes', async () => {
    const idle = counted();
    const step = chainWorkerStep<'evm'>(idle.ports, idle.ports);
    await step();
    const perRound = idle.calls();
    expect(perRound).toBeGreaterThan(0);
    for (let second = 0; second < 60; second++) {
      // Also when the clock of its machine is set back.
      fixture.clock.advance(second === 20 ? -3_600_000 : 1_000);
      await step();
    }
    expect(idle.calls()).toBe(3 * perRound);

    const { id } = await fixture.reserve();
    expect(await step()).toBe(1);
    fixture.chain.mine(CONFIRMATIONS);
    expect(await step()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('asks its node once in fifteen rounds while a deposit is too small to be swept', async () => {
    await fixture.deposit(7, 'ETH', 1n);
    const idle = counted();
    const step = chainWorkerStep<'evm'>(idle.ports, idle.ports);
    await step();
    const perRound = idle.calls();
    for (let second = 0; second < 60; second++) await step();
    expect(idle.calls()).toBe(5 * perRound);
  });

  it('asks for the newest block alone while transactions wait for one, and once in fifteen rounds for all', async () => {
    const waiting = counted();
    const step = chainWorkerStep<'evm'>(waiting.ports, waiting.ports);
    const { id } = await fixture.reserve();
    expect(await step()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    const asked = async () => {
      const before = waiting.calls();
      await step();
      return waiting.calls() - before;
    };
    // The first round after it was sent, and the first that knows which block it has seen.
    await step();
    await step();
    for (let round = 0; round < 14; round++) expect(await asked()).toBe(1);
    expect(await asked()).toBeGreaterThan(3);
    fixture.chain.mine();
    expect(await asked()).toBeGreaterThan(3);
    expect(await asked()).toBe(1);
    fixture.chain.mine(CONFIRMATIONS - 1);
    expect(await step()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('runs each round while no node has accepted a transaction, or the newest block is not told', async () => {
    const { id } = await fixture.reserve();
    const { sender } = fixture.chain;
    let isAway = true;
    let tried = 0;
    const ports = fixture.replicaWith({
      broadcast: async (raw) => {
        tried += 1;
        return isAway ? 'unknown' : sender.broadcast(raw);
      },
    });
    const step = chainWorkerStep<'evm'>(ports, ports);
    for (let round = 0; round < 5; round++) {
      await step();
      fixture.clock.advance(ports.settings.gracePeriods.resendAfterMs + 1);
    }
    expect(await fixture.payout(id)).toMatchObject({ status: 'signed' });
    expect(tried).toBeGreaterThan(3);
    isAway = false;
    await step();
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });

    const untold = counted();
    Object.assign(untold.ports.sender, { newestBlock: () => Promise.reject(new Error('ECONNREFUSED')) });
    await fixture.freeLease();
    const rounds = chainWorkerStep<'evm'>(untold.ports, untold.ports);
    for (let round = 0; round < 5; round++) {
      const before = untold.calls();
      await rounds();
      expect(untold.calls() - before).toBeGreaterThan(3);
    }
  });

  it('keeps its lease in idle rounds, so that other replicas do not ask their nodes', async () => {
    const [leader, follower] = [counted(), counted()];
    const leads = chainWorkerStep<'evm'>(leader.ports, leader.ports);
    const follows = chainWorkerStep<'evm'>(follower.ports, follower.ports);
    const left = `select extract(epoch from expires_at - now()) > 30 as long from leases`;
    for (let round = 0; round < 40; round++) {
      await fixture.db.rows(`update leases set expires_at = now() + interval '10 seconds'`);
      await leads();
      expect(await fixture.db.one(left)).toEqual({ long: true });
      await follows();
    }
    expect(leader.calls()).toBeGreaterThan(0);
    expect(follower.calls()).toBe(0);
  });

  it('does not renew the lease in idle rounds after it gave it up for a node on another network', async () => {
    const wrong = onWrongNetwork();
    const step = chainWorkerStep<'evm'>(wrong, wrong);
    for (let round = 0; round < 20; round++) {
      await step();
      expect(await fixture.db.one('select expires_at <= clock_timestamp() as free from leases')).toEqual({
        free: true,
      });
    }
  });

  it('keeps its lease during a long round, and notices when it is lost', async () => {
    const { settings } = fixture.ports;
    const lease = await takeLease(fixture.db, chainLease(fixture.ports), settings.replica, settings.leaseMs);
    if (lease === undefined) throw new Error('nobody else has it');
    await fixture.db.rows(`update leases set expires_at = now() + interval '1 second'`);
    await renewLease(fixture.db, lease);
    const left = `select extract(epoch from expires_at - now()) > 30 as long from leases`;
    expect(await fixture.db.one(left)).toEqual({ long: true });
    await fixture.freeLease();
    await takeLease(fixture.db, chainLease(fixture.ports), 'another', 1);
    await expect(renewLease(fixture.db, lease)).rejects.toThrow(LeaseLost);
    await fixture.freeLease();
    // Also when the other replica has released it: it may have signed in between.
    await expect(renewLease(fixture.db, lease)).rejects.toThrow(LeaseLost);
  });

  it('keeps its lease while one answer of a slow node takes longer than the lease', async () => {
    const { id } = await fixture.reserve();
    const { sender } = fixture.chain;
    const answer = Promise.withResolvers<void>();
    const fees = async () => {
      await answer.promise;
      return sender.fees();
    };
    const short = () => ({ settings: { ...fixture.ports.settings, replica: randomUUID(), leaseMs: 1_000 } });
    const slow = fixture.run(fixture.replica({ ...short(), sender: { ...sender, fees } }));
    const { expires_at } = await eventually(() =>
      fixture.db.one<{ expires_at: Date }>('select expires_at from leases'),
    );
    await eventually(async () =>
      expect(await fixture.db.one('select now() > $1 as is_over', [expires_at])).toEqual({ is_over: true }),
    );
    expect(await fixture.run(fixture.replica(short()))).toBe(0);
    answer.resolve();
    expect(await slow).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(await fixture.transactions()).toMatchObject([{ fence: '1' }]);
  });

  it('signs nothing after it lost its lease during a round', async () => {
    const { id } = await fixture.reserve();
    const { sender } = fixture.chain;
    // A pause between reading and signing, in which another replica took the lease and paid.
    const estimateTransfer: typeof sender.estimateTransfer = async (...given) => {
      await fixture.freeLease();
      await fixture.run();
      return sender.estimateTransfer(...given);
    };
    expect(await fixture.run(fixture.replicaWith({ estimateTransfer }))).toBe(0);
    fixture.expectLogged({
      msg: 'another replica has taken the lease of the chain worker: what this one wanted to sign is refused',
    });
    expect(await fixture.transactions()).toHaveLength(1);
    await fixture.expectPaid({ id });
  });
});

describe('a chain that knows more of the hot wallet than the database', () => {
  it('pauses signing until an operator decides; signed transactions are followed', async () => {
    const before = await fixture.send();
    fixture.chain.mine();
    fixture.chain.useNonce(HOT);
    const { id } = await fixture.reserve();
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
    for (let i = 0; i < 3; i++) await fixture.run();
    expect(fixture.ports.signingPause.reason).toMatch(
      /transactions of this wallet that this database does not know/,
    );
    fixture.expectLogged({
      level: 'error',
      msg: 'nothing is signed',
      reason: fixture.ports.signingPause.reason,
    });
    expect(await fixture.statusesOf(before, { id })).toEqual(['mined', 'reserved']);
    expect(await fixture.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '1' });

    await fixture.db.rows('update wallets set next_nonce = 2');
    await fixture.finish();
    expect(fixture.ports.signingPause.reason).toBeUndefined();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('pauses signing after the database was restored: paid payouts are not paid again', async () => {
    const { id, to } = await fixture.send();
    fixture.chain.mine();
    await fixture.admin.rows('delete from payments');
    await fixture.admin.rows('delete from transactions');
    await fixture.db.rows(`update wallets set next_nonce = 0`);
    await fixture.db.rows(`update payouts set status = 'reserved', tx_hash = null`);
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
    // An operator resumes signing.
    await fixture.db.rows(`update payouts set status = 'broadcast' where id = $1`, [id]);
    fixture.chain.arrived.length = 0;
  });
});

it('a payout that is not reserved any more is not signed, and takes no nonce', async () => {
  const { id } = await fixture.reserve();
  const payout = await findPayout(fixture.db, id);
  if (payout === undefined) throw new Error('it was just reserved');
  await fixture.run();
  const lease = await takeLease(
    fixture.db,
    chainLease(fixture.ports),
    fixture.ports.settings.replica,
    60_000,
  );
  if (lease === undefined) throw new Error('nobody else has it');
  const terms = await evmDriver(fixture.ports, lease).terms();
  const transfer = await terms.tryTransfer(payout);
  if (transfer === 'refused') throw new Error('the recipient takes it');
  expect(await pay(fixture.ports, lease, terms, [{ payout, transfer }])).toBe(0);
  expect(await fixture.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '1' });
});
