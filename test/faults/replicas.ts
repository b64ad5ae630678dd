import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { Engine } from '@quittance/engines/process';
import { putBetween } from '@quittance/testkit/between';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { type Replica, startReplica } from '@quittance/testkit/replica';
import { type Mining, mineAllTheTime } from './mining.ts';

const STARTS_WITHIN_MS = 180_000;
/** Where the second process of payouts logs. */
export const SECOND_LOGS = 'second-logs';

/** A process of payouts: its way to the node, and how many lines of its log say something. */
export type PayoutsProcess = { engine: Engine; node: FaultProxy; said(text: string): number };

/** A stack with two processes of every service that decides about money. It is empty until the first test. */
export type Replicated = {
  quittance: Quittance;
  /** The second process of each. */
  replicas: Record<'payouts' | 'ledger' | 'webhooks' | 'gateway', Replica>;
  payouts: readonly [PayoutsProcess, PayoutsProcess];
};

export function replicated(): Replicated {
  const on = {} as Replicated;
  let mining: Mining | undefined;
  beforeAll(async () => {
    const quittance = await startQuittance({ chains: [], fixedFees: true, quiet: true });
    on.quittance = quittance;
    const { stack } = quittance;
    const nodeOfOwn = await startFaultProxy(stack.nodes.ethereum.rpc);
    const nodeOfSecond = await startFaultProxy(stack.nodes.ethereum.rpc);
    const setting = 'ETHEREUM_RPC_URL';
    await putBetween(quittance, [{ service: 'payouts', setting, through: () => nodeOfOwn.url }]);
    const [payouts, ledger, webhooks] = await Promise.all([
      startReplica(quittance, 'payouts', { [setting]: nodeOfSecond.url }, SECOND_LOGS),
      startReplica(quittance, 'ledger'),
      startReplica(quittance, 'webhooks'),
    ]);
    const gateway = await startReplica(quittance, 'gateway', {
      PAYOUTS_URL: `http://127.0.0.1:${payouts.port}`,
      LEDGER_URL: `http://127.0.0.1:${ledger.port}`,
      WEBHOOKS_URL: `http://127.0.0.1:${webhooks.port}`,
    });
    on.replicas = { payouts, ledger, webhooks, gateway };
    const said = (logs: string) => saidIn(join(dirname(stack.pricesFile), logs));
    on.payouts = [
      { engine: stack.services.payouts, node: nodeOfOwn, said: said('logs') },
      { engine: payouts.engine, node: nodeOfSecond, said: said(SECOND_LOGS) },
    ];
    mining = mineAllTheTime(() => quittance.ethereum.mine(), 100);
  }, patient(STARTS_WITHIN_MS));
  afterAll(async () => {
    await mining?.stop();
    for (const { engine } of on.payouts ?? []) engine.resume();
    for (const { engine } of Object.values(on.replicas ?? {})) await engine.stop();
    await on.quittance?.stop();
    for (const { node } of on.payouts ?? []) await node.close();
  }, patient(STARTS_WITHIN_MS));
  return on;
}

const saidIn = (folder: string) => (text: string) =>
  readdirSync(folder)
    .filter((file) => file.startsWith('payouts'))
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
    .filter((line) => line.includes(text)).length;
