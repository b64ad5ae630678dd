import { afterEach, beforeEach } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { ScriptedEvmNode } from '@quittance/testkit/scripted-evm-node';
import type { Ports } from '../src/ports.ts';
import { ADDRESS, auditSuite, PAID } from './audit-fixture.ts';

export const HOT = `0x${'1'.repeat(40)}`;

export const deleteRecords = `delete from ledger.entries; delete from ledger.transfers; delete from ledger.balances;
  delete from invoices.deposits; delete from invoices.invoices; delete from invoices.addresses; delete from payouts.wallets;
  delete from payouts.unswept_deposits`;

/**
 * For one suite: before every test these records alone, a node with a deposit of 60 units, unswept, and a hot wallet with 100 of
 * the operator's own; and an auditor that asks it.
 */
export async function chainSuite(records = '') {
  const fixture = await auditSuite(deleteRecords);
  const at = {} as { node: ScriptedEvmNode; ports: Ports };
  beforeEach(async () => {
    await fixture.run(`${deleteRecords}; ${records}`);
    at.node = new ScriptedEvmNode();
    at.node.blocks.set(10, `0x${'a'.repeat(64)}`);
    at.node.mined.set(PAID, { to: ADDRESS, value: 60n, succeeded: true, height: 10 });
    at.node.balances.set(ADDRESS, 60n).set(HOT, 100n);
    const settings = { ...fixture.ports.settings, gracePeriodSeconds: 0 };
    const chain = { settings: await at.node.start() };
    at.ports = fixture.replicaWithNode(chain, { clock: systemClock, settings });
  });
  afterEach(() => at.node.stop());
  fixture.finally(() => fixture.run(deleteRecords));
  return { fixture, at };
}
