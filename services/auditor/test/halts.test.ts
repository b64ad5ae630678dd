import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReconciledChain } from '@quittance/reconciliation/chain-records';
import { Secret } from '@quittance/shared/secret';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import { ScriptedEvmNode } from '@quittance/testkit/scripted-evm-node';
import { resendHalts } from '../src/operations/halts.ts';
import { resumePayouts } from '../src/operations/resume-payouts.ts';
import { ADDRESS, auditSuite, PAID } from './audit-fixture.ts';

/** Halts of payouts: how an operator ends them, how payouts hears of them, and what does not cause or delay one. */
const fixture = await auditSuite();

describe('an operator', () => {
  const resume = (asset: 'ETH' | 'SOL', force = false) =>
    resumePayouts(
      { db: fixture.admin, clock: fixture.ports.clock, note: async () => undefined },
      { asset, force, chains: [chain], gracePeriodSeconds: 60, chainDays: 30 },
    );
  const node = new ScriptedEvmNode();
  let chain: ReconciledChain;
  beforeAll(async () => {
    const hot = '0x1';
    await fixture.run(
      `insert into payouts.wallets (chain, address, role, next_nonce) values ('ethereum', '${hot}', 'hot', 0)`,
    );
    node.blocks.set(10, `0x${'a'.repeat(64)}`);
    node.balances.set(hot, 1_000n);
    node.mined.set(PAID, { to: ADDRESS, value: 100n, succeeded: true, height: 1 });
    chain = { settings: await node.start() };
  });
  afterAll(() => node.stop());

  it('resumes an asset whose discrepancy is resolved, and no other', async () => {
    expect(await resume('ETH')).toMatchObject({ ok: false, refusal: { why: 'not_halted' } });
    await fixture.check();
    await fixture.off(1);
    try {
      await fixture.check();
      await fixture.check();
      expect(await resume('ETH')).toMatchObject({
        ok: false,
        refusal: { why: 'still_wrong', discrepancies: [{ invariant: 'I2', asset: 'ETH' }] },
      });
      expect(await resume('SOL')).toMatchObject({ ok: false, refusal: { why: 'not_halted' } });
    } finally {
      await fixture.off(-1);
    }
    expect(await resume('ETH')).toMatchObject({ ok: true, value: { accepted: [] } });
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: false }]);
    const kinds = await fixture.db.rows(
      "select kind, payload ->> 'halt' = (select seq::text from halts) as same from outbox order by seq",
    );
    expect(kinds).toEqual([
      { kind: 'asset.halted', same: true },
      { kind: 'asset.resumed', same: true },
    ]);
    for (let i = 0; i < 2; i++) await fixture.check();
    expect(await fixture.halts()).toHaveLength(1);
  });

  it('resumes by force and accepts the discrepancy, and a further one halts the asset again', async () => {
    await fixture.check();
    await fixture.off(1);
    await fixture.check();
    await fixture.check();
    expect(await resume('ETH', true)).toMatchObject({
      ok: true,
      value: { accepted: [{ invariant: 'I2' }] },
    });
    await fixture.later('1 day');
    for (let i = 0; i < 3; i++) await fixture.check();
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: false }]);
    expect(await fixture.db.rows('select forced from halts')).toEqual([{ forced: true }]);
    // One more unit is not accepted. A discrepancy that keeps growing is found again.
    await fixture.off(1);
    await fixture.check();
    await fixture.off(1);
    await fixture.check();
    await fixture.off(-1);
    expect(await fixture.halts()).toEqual([
      { asset: 'ETH', open: false },
      { asset: 'ETH', open: true },
    ]);
  });
});

it('a halt, or its end, that payouts does not acknowledge is logged and sent again until payouts has done it', async () => {
  const halfAMinute = () =>
    fixture.run(`update auditor.halts set notified_at = notified_at - interval '31 seconds'`);
  const told = async () => {
    fixture.lines.length = 0;
    return [
      await resendHalts(fixture.ports),
      (await fixture.sentEvents()).map(([kind]) => kind),
      fixture.lines.map(({ level }) => level),
    ];
  };
  await fixture.run(`insert into auditor.halts (asset, discrepancies) values ('ETH', '[]')`);
  expect(await told()).toEqual([0, [], []]);
  await halfAMinute();
  expect(await told()).toEqual([1, ['asset.halted'], ['error']]);
  expect(await told()).toEqual([0, ['asset.halted'], []]);
  await fixture.run(`insert into payouts.halted_assets (asset, halt) select asset, seq from auditor.halts`);
  try {
    await halfAMinute();
    expect(await told()).toEqual([0, ['asset.halted'], []]);
    expect(await fixture.metricsText()).toContain('quittance_asset_halted{asset="ETH"} 1');
    await fixture.run('update auditor.halts set resumed_at = now()');
    expect(await told()).toEqual([1, ['asset.halted', 'asset.resumed'], ['error']]);
    await fixture.run('update payouts.halted_assets set resumed_at = now()');
    await halfAMinute();
    expect(await told()).toEqual([0, ['asset.halted', 'asset.resumed'], []]);
  } finally {
    await fixture.run('delete from payouts.halted_assets');
  }
});

const replicaWithNode = (url: string) =>
  fixture.replicaWithNode({
    settings: { kind: 'evm', chain: 'ethereum', rpcUrls: [new Secret(url)], chainId: 1 },
  });

it('a chain whose node cannot be asked is no discrepancy, is logged once, and is shown in the metrics', async () => {
  const blind = replicaWithNode('http://127.0.0.1:1');
  for (let i = 0; i < 3; i++) await fixture.check(blind);
  expect(await fixture.halts()).toEqual([]);
  expect(fixture.lines.map(({ level, fields }) => [level, fields['chain']])).toEqual([['warn', 'ethereum']]);
  expect(await fixture.metricsText()).toContain(
    'quittance_reconciliation_chain_compared{chain="ethereum"} 0',
  );
});

it('a node that is down delays no check of the records, nor does a suspected discrepancy of its chain', async () => {
  // It accepts the connection and does not answer.
  const asked: ServerResponse[] = [];
  const node = createServer((_, response) => asked.push(response));
  const port = await localPort(node);
  const waiting = replicaWithNode(`http://127.0.0.1:${port}`);
  await fixture.run(`insert into auditor.discrepancies (invariant, subject, asset, what, chain, pauses_payouts, first_seen_at, last_seen_at)
    values ('I6', 'ETH is short', 'ETH', 'ETH is short of 1', 'ethereum', true, now(), now())`);
  await fixture.off(1);
  try {
    let isDone = false;
    const step = fixture.check(waiting).finally(() => {
      isDone = true;
    });
    await eventually(() => expect(asked).not.toEqual([]), 10_000, 50);
    expect([isDone, await fixture.checks()]).toEqual([false, ['whole wrong']]);
    expect(await fixture.discrepancies()).toMatchObject([{ invariant: 'I2' }, { invariant: 'I6' }]);
    node.closeAllConnections();
    node.close();
    await step;
    await fixture.check(waiting);
    await fixture.check(waiting);
    expect(await fixture.checks()).toEqual(['whole wrong', 'again wrong', 'recent wrong']);
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: true }]);
    expect(await fixture.discrepancies()).toMatchObject([
      { invariant: 'I2', times: 3 },
      { invariant: 'I6', times: 1 },
    ]);
  } finally {
    node.closeAllConnections();
    node.close();
  }
});
