import { systemClock } from '@quittance/shared/clock';
import { ScriptedEvmNode } from '@quittance/testkit/scripted-evm-node';
import type { Ports } from '../src/ports.ts';
import { ADDRESS, type auditSuite, PAID } from './audit-fixture.ts';

export const HOT = `0x${'1'.repeat(40)}`;

/** A node with a deposit of 60 units, unswept, and a hot wallet with 100 of the operator's own; and an auditor that asks it. */
export async function chainWithDeposit(
  fixture: Awaited<ReturnType<typeof auditSuite>>,
): Promise<{ node: ScriptedEvmNode; ports: Ports }> {
  const node = new ScriptedEvmNode();
  node.blocks.set(10, `0x${'a'.repeat(64)}`);
  node.mined.set(PAID, { to: ADDRESS, value: 60n, succeeded: true, height: 10 });
  node.balances.set(ADDRESS, 60n).set(HOT, 100n);
  const settings = { ...fixture.ports.settings, gracePeriodSeconds: 0 };
  const ports = fixture.replicaWithNode({ settings: await node.start() }, { clock: systemClock, settings });
  return { node, ports };
}
