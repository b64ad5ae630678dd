import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@quittance/shared/logger';
import { refuse } from '@quittance/shared/result';
import { api, asOperator, gatewayPublicKeys, identityOf } from '@quittance/testkit/api';
import { createHttp } from '../src/http/books.ts';
import { haltPayouts } from '../src/operations/halts.ts';
import { openHalt } from '../src/store/halts.ts';
import { auditSuite } from './audit-fixture.ts';

/** What the console of operators sees of the reconciliation, and which pauses it can end. */
const fixture = await auditSuite();
const logger = createLogger('auditor', 'silent');

async function listening(gatewayKeys: typeof gatewayPublicKeys | undefined): Promise<number> {
  const ports = { ...fixture.ports, clock: { now: () => new Date() }, gatewayKeys };
  const app = createHttp(ports, { logger, clock: ports.clock, waitsFor: async () => [] } as never);
  return await new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => {
      fixture.finally(() => server.close());
      resolve((server.address() as { port: number }).port);
    });
  });
}
const port = await listening(gatewayPublicKeys);
const ask = (method: string, path: string, body?: object) =>
  asOperator(port, 'auditor', method, path, { body });
const pause = (asset: string, reason = 'a drill') => ask('PUT', `/api/operator/pauses/${asset}`, { reason });
const resume = (asset: string) => ask('DELETE', `/api/operator/pauses/${asset}`);
const read = async () => (await ask('GET', '/api/operator/reconciliation')).body;
const foundRight = (age: string) =>
  fixture.run(
    `insert into auditor.passed_checks (asset, began_at) values ('ETH', now() - interval '${age}')
     on conflict (asset) do update set began_at = excluded.began_at`,
  );

describe('the console', () => {
  it('answers nobody but an operator of whom the gateway has asserted that it is one', async () => {
    const path = '/api/operator/reconciliation';
    const asserted = (given: object) =>
      api(port, 'GET', path, {
        headers: identityOf('acc_1' as never, { method: 'GET', path, receiver: 'auditor', ...given }),
      });
    expect((await api(port, 'GET', path)).status).toBe(401);
    expect((await asserted({})).status).toBe(401);
    expect((await asserted({ operator: true, receiver: 'ledger' })).status).toBe(401);
    expect((await asserted({ operator: true })).status).toBe(200);
    const without = await listening(undefined);
    expect((await asOperator(without, 'auditor', 'GET', path)).status).toBe(404);
  });

  it('shows the checks, each discrepancy, and of each asset when it was found right', async () => {
    await fixture.check();
    await fixture.off(1);
    try {
      await fixture.check();
      await fixture.check();
      const { checks, discrepancies, pauses, assets } = await read();
      expect(checks.recent).toMatchObject({ right: false, chains: {} });
      expect(discrepancies).toMatchObject([
        { invariant: 'I2', asset: 'ETH', pauses_payouts: true, accepted_at: null },
      ]);
      expect(pauses).toMatchObject([{ asset: 'ETH', by_console: false, reasons: [{ invariant: 'I2' }] }]);
      expect(assets).toContainEqual({
        ...{ asset: 'ETH', chain: 'ethereum', passed_at: null },
        ...{ reserves: null, liabilities: null, operator_funds: null },
      });
    } finally {
      await fixture.off(-1);
    }
  });

  it('pauses payouts with the reason and who asked, and resumes them when a check has just found the asset right', async () => {
    expect((await pause('DOGE')).status).toBe(404);
    expect((await pause('ETH', '')).status).toBe(422);
    expect((await resume('ETH')).status).toBe(409);
    expect((await pause('ETH')).status).toBe(200);
    expect((await pause('ETH')).status).toBe(409);
    expect((await read()).pauses).toEqual([
      {
        ...{ asset: 'ETH', in_force: false, by_console: true, paused_at: expect.any(String) },
        reasons: [{ invariant: 'operator console', what: 'a drill (per_1)' }],
      },
    ]);
    expect(await resume('ETH')).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('No check of the last five minutes') },
    });
    await foundRight('6 minutes');
    expect((await resume('ETH')).status).toBe(409);
    await foundRight('1 minute');
    expect((await resume('ETH')).status).toBe(200);
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: false }]);
    const sent = await fixture.db.rows(
      `select kind, payload ->> 'halt' = (select seq::text from halts) as same from outbox order by seq`,
    );
    expect(sent).toEqual([
      { kind: 'asset.halted', same: true },
      { kind: 'asset.resumed', same: true },
    ]);
  });

  it('does not resume while a discrepancy is known, although a check was right before', async () => {
    await pause('ETH');
    await foundRight('1 minute');
    const discrepancy = (asset: string) =>
      fixture.run(
        `insert into auditor.discrepancies (invariant, subject, asset, what, pauses_payouts, first_seen_at, last_seen_at)
         values ('I9', 'x', ${asset}, 'x', true, now(), now())`,
      );
    for (const asset of [`'ETH'`, 'null']) {
      await discrepancy(asset);
      expect([asset, (await resume('ETH')).status]).toEqual([asset, 409]);
      await fixture.run(`delete from auditor.discrepancies`);
    }
    await discrepancy(`'SOL'`);
    expect((await resume('ETH')).status).toBe(200);
  });

  it('does not end what the auditor or the command line has asked for while it had paused', async () => {
    await foundRight('1 minute');
    const ports = { db: fixture.admin, clock: fixture.ports.clock, note: async () => undefined };
    for (const asset of ['ETH', 'SOL']) await pause(asset);
    expect(await haltPayouts(ports, { asset: 'ETH', reason: 'a theft' })).toMatchObject({ ok: true });
    const found = [{ invariant: 'I2', what: 'x' }];
    expect(await fixture.db.transaction((trx) => openHalt(trx, 'SOL', found, new Date()))).toBeDefined();
    for (const asset of ['ETH', 'SOL']) expect([asset, (await resume(asset)).status]).toEqual([asset, 409]);
    expect((await read()).pauses).toMatchObject([{ by_console: false }, { by_console: false }]);
    // What is paused by more than the console is paused already.
    expect(await haltPayouts(ports, { asset: 'ETH', reason: 'again' })).toEqual(refuse('halted_already'));
    expect((await pause('SOL')).status).toBe(409);
  });

  it('ends no pause of the auditor, and none of the command line', async () => {
    await foundRight('1 minute');
    const ports = { db: fixture.admin, clock: fixture.ports.clock, note: async () => undefined };
    await haltPayouts(ports, { asset: 'ETH', reason: 'operator console' });
    await fixture.run(
      `insert into auditor.halts (asset, discrepancies) values ('SOL', '[{"invariant": "I2", "what": "x"}]')`,
    );
    for (const asset of ['ETH', 'SOL'])
      expect(await resume(asset)).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining(`quittance payouts resume --asset ${asset}`) },
      });
    expect((await read()).pauses).toMatchObject([{ by_console: false }, { by_console: false }]);
    expect(await fixture.halts()).toEqual([
      { asset: 'ETH', open: true },
      { asset: 'SOL', open: true },
    ]);
  });
});
